from collections.abc import Mapping, Sequence

class LitConfig:
    numErrors: int
    def __init__(
        self,
        progname: str,
        path: Sequence[str],
        diagnostic_level: str,
        useValgrind: bool,
        valgrindLeakCheck: bool,
        valgrindArgs: Sequence[str],
        noExecute: bool,
        debug: bool,
        isWindows: bool,
        order: str,
        params: Mapping[str, str],
        config_prefix: str | None = None,
        maxIndividualTestTime: int | None = None,
    ) -> None: ...
