import { chooseTarget, type Target } from './api.ts'
import { type AskedQuestion, awaitResearch, startResearch } from './ask-research.ts'
import { commandLine } from './command-line.ts'
import { usage } from './refused.ts'
import { sayAnswer } from './say-answer.ts'
import { isServerThere } from './server-there.ts'
import type { Session } from './session.ts'
import type { TargetOptions } from './target-options.ts'
import { withPlace } from './with-place.ts'

export interface AskOptions extends TargetOptions {
  readonly hint?: readonly string[]
  readonly budget?: number
  readonly iterations?: number
  readonly keepUnsupported?: true
  readonly trace?: true
}

/** `sluice research ask`: on a server, or with none there right here. */
export async function askQuestion(session: Session, topic: string, options: AskOptions): Promise<void> {
  const question = questionOf(topic, options)
  const target = chooseTarget(session, options.url)
  if (target.named || (await isServerThere(target))) {
    return await answerOf(session, target, await startResearch(target, question), options)
  }
  await withPlace({ port: 0, logs: session.settings.logs }, async (place) => {
    const runId = await startResearch(place.target, question)
    await answerOf(session, place.target, runId, options, place.signal)
  })
}

/** `sluice research show RUN`. */
export async function showAnswer(session: Session, runId: string, options: AskOptions): Promise<void> {
  await answerOf(session, chooseTarget(session, options.url), runId, options)
}

function questionOf(topic: string, { hint = [], budget, iterations, keepUnsupported }: AskOptions): AskedQuestion {
  return {
    topic,
    ...(hint.length > 0 && { hints: Object.fromEntries(hint.map(hintOf)) }),
    ...(budget !== undefined && { budget_tokens: budget }),
    ...(iterations !== undefined && { max_iterations: iterations }),
    ...(keepUnsupported === true && { keep_unsupported: true }),
  }
}

function hintOf(pair: string): readonly [string, string] {
  const at = pair.indexOf('=')
  if (at > 0 && at < pair.length - 1) return [pair.slice(0, at), pair.slice(at + 1)]
  throw usage(`Cannot read --hint ${pair}: key=value is needed, for example entity_kind=country.`)
}

/** Waits for the answer of a research run and says it. */
async function answerOf(
  session: Session,
  target: Target,
  runId: string,
  { trace, json }: AskOptions,
  signal?: AbortSignal,
): Promise<void> {
  const show = json === true ? () => {} : showStage(session, commandLine(session, target, `research show ${runId}`))
  const answer = await awaitResearch(target, runId, { stage: show, ...(signal && { signal }) })
  process.exitCode = await sayAnswer(session, target, answer, { trace: trace === true, json: json === true })
}

/** On a terminal each stage once, on stderr; before the first how to come back to it. */
function showStage(session: Session, later: string): (stage: string) => void {
  let shown = ''
  return (stage) => {
    if (!session.terminal || stage === shown) return
    session.warn(shown === '' ? `${stage} .. (see it later with ${later})` : `${stage} ..`)
    shown = stage
  }
}
