class TestingConfig:
    name: str
    suffixes: list[str]
    test_format: object
    environment: dict[str, str]
    substitutions: list[tuple[str, str]]
    excludes: list[str]
    available_features: set[str]
    test_source_root: str
    test_exec_root: str
