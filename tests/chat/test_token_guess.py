"""The guess of tokens, against a real tokenizer."""

import base64
import inspect
import random
import warnings
from collections.abc import Iterable

import planwire.chat.render
from planwire.chat import about_tokens

CHANCE = random.Random(1)
PROSE = "First we read the configuration, then we write the parser anew, and finally we run all the tests of it. "
TEXTS = {
    "Python": inspect.getsource(planwire.chat.render),
    "C++": "std::unique_ptr<T> make(const std::vector<T>& xs, int n) {\n    return xs[i] == n ? xs[i] : nullptr;\n}\n",
    "minified": "function a(b,c){return b&&c?b.d(c):{e:[b,c],f:!0}}for(let h=0;h<g.length;h++){i[h]=g[h]||null}",
    "a diff": "".join(f"-    old_{at} = foo(x, {at})\n+    new_{at} = bar(y, {at})\n" for at in range(30)),
    "a table": "| a | b | c |\n|---|---|---|\n" + "| 1 | 2 | 3 |\n" * 30,
    "a log": "".join(f"2026-11-16T12:00:{at:02}.001Z INFO worker[{at}] id={at * 7919} in {at}ms\n" for at in range(30)),
    "emoji": "".join(CHANCE.choices("😀🎉🚀👍💡🔥🧪🐛", k=300)),
    "hashes": "\n".join(f"{CHANCE.getrandbits(160):040x}" for _ in range(30)),
    "letters and digits": "a1b2c3d4" * 100,
    "base64": base64.b64encode(CHANCE.randbytes(900)).decode(),
    "digits": "".join(CHANCE.choices("0123456789", k=900)),
    "Chinese": "我们需要先阅读配置文件，然后编写解析器，最后运行所有测试以确认没有任何问题。",
    "Japanese": "設定ファイルを読み込んでから、パーサーを書き直し、すべてのテストを実行します。",
    "German": "Zuerst lesen wir die Konfigurationsdatei, danach schreiben wir den Parser neu und prüfen alles. ",
    "prose": PROSE,
}


def counted(texts: Iterable[str]) -> list[int]:
    """The tokens of texts, in the encoding of OpenAI's models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package reads its tables in a way that Python deprecates
        import bpe_openai  # type: ignore[import-untyped]

        encode = bpe_openai.get_encoding("o200k_base").encode
    return [len(encode(text)) for text in texts]


def test_the_guess_is_near_and_never_low_by_more_than_a_third() -> None:
    texts = [(text * 12)[:4_000] for text in TEXTS.values()]
    guesses = [about_tokens({"role": "user", "content": text}) for text in texts]
    ratios = {kind: real / guess for kind, real, guess in zip(TEXTS, counted(texts), guesses, strict=True)}
    assert {kind: ratio for kind, ratio in ratios.items() if not 0.65 < ratio < 1.3} == {}


def test_the_guess_grows_with_the_text() -> None:
    guesses = [about_tokens({"role": "user", "content": PROSE * times}) for times in range(20)]
    assert guesses == sorted(guesses)
    assert guesses[0] >= 1
