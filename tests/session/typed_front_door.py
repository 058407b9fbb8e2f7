"""The types of a session's front door, for the type checker alone: `make check` reads this file, nothing runs it.

What `tools`, `context`, `pending` and `recap` give goes into the four providers' packages without a cast. And since
`mypy --strict` refuses a `type: ignore` that it does not need, each one here says: this must be an error.
"""

from anthropic import AsyncAnthropic
from google.genai import Client
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from planwire import BlockingPlanSession, PlanSession, open_journal
from planwire.journal import load_state
from planwire.session.options import ProviderFormat


async def openai_chat(client: AsyncOpenAI, task: ChatCompletionMessageParam) -> None:
    async with PlanSession.open("memory:", "s", format="openai-chat") as plans:
        await client.chat.completions.create(model="m", messages=await plans.context(), tools=plans.tools())
        messages: list[ChatCompletionMessageParam] = [*await plans.recap(), task]
        messages += await plans.pending()
        await client.chat.completions.create(model="m", messages=messages, tools=plans.tools())


async def openai_responses(client: AsyncOpenAI) -> None:
    async with PlanSession.open("memory:", "s", format="openai-responses") as plans:
        await client.responses.create(model="m", input=await plans.context(), tools=plans.tools())


async def anthropic(client: AsyncAnthropic) -> None:
    async with PlanSession.open("memory:", "s", format="anthropic") as plans:
        await client.messages.create(
            model="m", max_tokens=1, messages=await plans.context(), tools=[{"name": "own", "input_schema": {}}]
        )
        await client.messages.create(model="m", max_tokens=1, messages=await plans.pending(), tools=plans.tools())


def gemini(client: Client) -> None:
    with BlockingPlanSession.open("memory:", "s", format="gemini") as plans:
        client.models.generate_content(
            model="m",
            contents=plans.context(),
            config={"tools": [{"function_declarations": plans.tools()}]},
        )


async def ways_to_open(form: ProviderFormat) -> tuple[str, int]:
    plans: PlanSession = await PlanSession.open(None, "s", format=form, oversize="truncate", wait_seconds=0.5)
    await plans.close()
    blocking: BlockingPlanSession = BlockingPlanSession.open("memory:", "s", by="user", folders=".")
    blocking.close()
    record = blocking.state.plans["main"]
    step = record.state.steps[0]
    return f"{step.id} {step.content} {step.status}", record.revision


def must_not_pass(name: str) -> None:
    PlanSession.open("memory:", "s", fromat="anthropic")  # type: ignore[call-arg]
    PlanSession.open("memory:", "s", format="antropic")  # type: ignore[arg-type]
    PlanSession.open("memory:", "s", format=name)  # type: ignore[arg-type]
    PlanSession.open("memory:", "s", wait_seconds="soon")  # type: ignore[arg-type]
    PlanSession("plans.db", "s")  # type: ignore[arg-type]
    BlockingPlanSession.open("memory:", "s", fromat="anthropic")  # type: ignore[call-arg]
    BlockingPlanSession.open("memory:", "s", format="antropic")  # type: ignore[arg-type]
    BlockingPlanSession.open("memory:", "s", oversize="cut")  # type: ignore[arg-type]
    BlockingPlanSession.open("memory:", "s", wait_seconds="soon")  # type: ignore[arg-type]
    BlockingPlanSession("plans.db", "s")  # type: ignore[arg-type]
    load_state("plans.db", "s")  # type: ignore[arg-type]
    open_journal(1)  # type: ignore[arg-type]
