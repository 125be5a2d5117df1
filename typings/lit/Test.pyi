from lit.LitConfig import LitConfig

class ResultCode:
    name: str
    isFailure: bool

UNSUPPORTED: ResultCode
SKIPPED: ResultCode

class Result:
    code: ResultCode
    output: str

class TestFormat:
    def execute(self, test: Test, litConfig: LitConfig) -> Result: ...

class TestConfig:
    test_format: TestFormat
    substitutions: list[tuple[str, str]]

class TestSuite:
    exec_root: str

class Test:
    config: TestConfig
    suite: TestSuite
    result: Result
    def setResult(self, result: Result) -> None: ...
