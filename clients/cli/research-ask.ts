import type { Command } from 'commander'
import { chooseTarget, type Target } from './api.ts'
import { type AskedQuestion, awaitResearch, startResearch } from './ask-research.ts'
import { commandLine } from './command-line.ts'
import { usage } from './refused.ts'
import { sayAnswer } from './say-answer.ts'
import { isServerThere } from './server-there.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'
import { withPlace } from './with-place.ts'

interface AskOptions extends TargetOptions {
  readonly hint?: readonly string[]
  readonly budget?: number
  readonly iterations?: number
  readonly trace?: true
}

export function addResearchAsk(research: Command, session: Session): void {
  withTarget(research.command('ask').description('ask the knowledge graph; with no server there, right here'))
    .argument('<question...>')
    .option('--hint <key=value>', 'for example entity_kind=country; repeat it', (pair, pairs: string[] = []) => [
      ...pairs,
      pair,
    ])
    .option(
      '--budget <tokens>',
      'of all model calls, and of the evidence (default: 4000)',
      wholeNumber(1, 1_000_000_000),
    )
    .option('--iterations <n>', 'refine rounds at most, 1 to 50 (default: 5)', wholeNumber(1, 50))
    .option('--trace', 'also what each stage did')
    .action((words: readonly string[], options: AskOptions) => ask(session, words.join(' '), options))
}

export function addResearchShow(research: Command, session: Session): void {
  withTarget(research.command('show').description('the answer of a research run, with its evidence'))
    .argument('<run-id>')
    .option('--trace', 'also what each stage did')
    .action(async (runId: string, options: AskOptions) => {
      await answerOf(session, chooseTarget(session, options.url), runId, options)
    })
}

async function ask(session: Session, topic: string, options: AskOptions): Promise<void> {
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

function questionOf(topic: string, { hint = [], budget, iterations }: AskOptions): AskedQuestion {
  return {
    topic,
    ...(hint.length > 0 && { hints: Object.fromEntries(hint.map(hintOf)) }),
    ...(budget !== undefined && { budget_tokens: budget }),
    ...(iterations !== undefined && { max_iterations: iterations }),
  }
}

function hintOf(pair: string): readonly [string, string] {
  const at = pair.indexOf('=')
  if (at > 0 && at < pair.length - 1) return [pair.slice(0, at), pair.slice(at + 1)]
  throw usage(`Cannot read --hint ${pair}: key=value is needed, for example entity_kind=country.`)
}

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
