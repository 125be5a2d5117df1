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

class Test:
    config: TestConfig
    result: Result
    def setResult(self, result: Result) -> None: ...
