import * as z from 'zod'
import { RESEARCH_ROUTES, type ResearchAnswer } from '../../../shared/api/research-routes.ts'
import { withPlace } from '../place/with-place.ts'
import { callApi, callWithRetries, chooseTarget, commandLine, isServerThere, type Target } from '../server/api.ts'
import type { TargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { sayAnswer } from './print-answer.ts'

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
  if (target.named || (target.inside !== true && (await isServerThere(target)))) {
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
  throw usageError(`Cannot read --hint ${pair}: key=value is needed, for example entity_kind=country.`)
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

/** A question as POST /api/research takes it. */
interface AskedQuestion {
  readonly topic: string
  readonly hints?: Readonly<Record<string, string>>
  readonly budget_tokens?: number
  readonly max_iterations?: number
  readonly keep_unsupported?: boolean
  readonly embeddings_weight?: number
}

interface WaitHow {
  readonly signal?: AbortSignal
  /** The stage under way, each time it is looked at. */
  stage(name: string): void
}

/** Starts a research run and answers its id; under a key once, however often it is called. */
export async function startResearch(target: Target, question: AskedQuestion, key?: string): Promise<string> {
  const answer = RESEARCH_ROUTES['start-research'].answer.loose()
  const { run_id } = await callApi(target, answer, (api) =>
    api.POST('/api/research', {
      body: question,
      ...(key !== undefined && { params: { header: { 'Idempotency-Key': key } } }),
    }),
  )
  return run_id
}

/** The answer of a research run, once it has one. */
export async function awaitResearch(target: Target, runId: string, how: WaitHow): Promise<ResearchAnswer> {
  const signal = how.signal
  for (let wait = FIRST_WAIT_SEC; ; wait = WAIT_SEC) {
    const request = { params: { path: { run_id: runId }, query: { wait } }, ...(signal && { signal }) }
    const looked = await callWithRetries(
      () => callApi(target, LookSchema, (api) => api.GET('/api/research/{run_id}', request)),
      {
        note: (why) => how.stage(why),
        ...(signal && { signal }),
      },
    )
    if ('ended' in looked) return looked.ended
    how.stage(looked.stage)
  }
}

/** A short first wait, so that a person sees the stage of a long chain. */
const FIRST_WAIT_SEC = 2
/** The most the route allows. */
const WAIT_SEC = 25

const { answer, also } = RESEARCH_ROUTES['get-research']
const LookSchema = z.union([
  answer.loose().transform((ended) => ({ ended })),
  also.answer.loose().transform(({ stage }) => ({ stage })),
])
