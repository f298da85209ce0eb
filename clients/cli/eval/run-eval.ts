import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { junitOf } from '../../../shared/evals/junit.ts'
import { type Report, reportRound } from '../../../shared/evals/report.ts'
import type { ResultLine, RoundHead } from '../../../shared/evals/round-file.ts'
import { withPlace } from '../place/with-place.ts'
import { chooseTarget, pingServer, type Target } from '../server/api.ts'
import { writeNewFile } from '../terminal/files.ts'
import { count, usdWords } from '../terminal/format.ts'
import type { TargetOptions } from '../terminal/options.ts'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'
import { openCheckJudge } from './check-judge.ts'
import { beginRound, endHalfLine, findRound, type KeptRound, keptRounds, roundBefore } from './keep-round.ts'
import { asRefused, chooseEval, type EvalFile, type Plan, planRound, readEvalFile } from './plan-round.ts'
import { reportLines } from './report-lines.ts'
import { runRound } from './run-round.ts'

export interface EvalRunOptions extends TargetOptions {
  readonly fresh?: true
  readonly concurrency?: number
  readonly budgetUsd?: number
  readonly budgetTokens?: number
  readonly against?: string
  readonly junit?: string
}

export interface EvalShowOptions {
  readonly round?: string
  readonly against?: string
  readonly junit?: string
  readonly json?: true
}

/** `sluice eval run`: on a server, or with none there right here. */
export async function runEval(session: Session, given: string | undefined, options: EvalRunOptions): Promise<void> {
  try {
    await runOnPlace(session, readEvalFile(chooseEval(given)), options)
  } catch (error) {
    throw asRefused(error)
  }
}

async function runOnPlace(session: Session, file: EvalFile, options: EvalRunOptions): Promise<void> {
  // Mistakes are told before there is a place, but where the items are runs of one.
  if (file.evaluation.data.runs === undefined) await planRound(file, noPlace)
  const target = chooseTarget(session, options.url)
  const seen = await pingServer(target)
  if (target.named && seen !== 'answers') throw seen
  if (seen === 'answers') return await runHere(session, target, { file, options })
  const { example, variants } = file.evaluation
  const ofPackage = [example, ...variants.map((variant) => variant.example)].some((one) => one !== undefined)
  const place = { port: 0, example: ofPackage && !existsSync('sluice.yaml'), logs: session.settings.logs }
  await withPlace(place, ({ target, signal }) => runHere(session, target, { file, options, signal }))
}

function noPlace(): Promise<Target> {
  return Promise.reject(usageError('Items that are past runs need a place.'))
}

interface Here {
  readonly file: EvalFile
  readonly options: EvalRunOptions
  readonly signal?: AbortSignal
}

async function runHere(session: Session, target: Target, { file, options, signal }: Here): Promise<void> {
  const tell = options.json === true ? session.warn : session.say
  const before = options.against === undefined ? undefined : findRound(file, options.against)
  const { plan, path, round } = await openRound(file, target, options, tell)
  const { concurrency, budget, thresholds } = file.evaluation
  const judge = openCheckJudge()
  const planned = plan.items.length * plan.variants.length
  const screen = progressOf(session, planned, options.json === true)
  try {
    await runRound({
      target,
      plan,
      round,
      file: path,
      judge,
      concurrency: options.concurrency ?? concurrency,
      budget: budgetOf(budget, options),
      ...(signal && { signal }),
      ...screen,
    })
  } catch (error) {
    tell(`The round is kept: \`${session.settings.command} eval run ${file.path}\` goes on with it.`)
    throw error
  } finally {
    await judge.close()
  }
  const rounds = keptRounds(file)
  const done = findRound(file, round.head.round)
  sayReport(session, done, reportRound(done, thresholds, before ?? roundBefore(rounds, done.head.round)), options)
}

function budgetOf(
  budget: Plan['evaluation']['budget'],
  { budgetUsd, budgetTokens }: EvalRunOptions,
): Plan['evaluation']['budget'] {
  return {
    ...budget,
    ...(budgetUsd !== undefined && { usd: budgetUsd }),
    ...(budgetTokens !== undefined && { tokens: budgetTokens }),
  }
}

interface OpenRound {
  readonly plan: Plan
  readonly path: string
  readonly round: KeptRound
}

/** The newest round where it is not complete and its plan is this one, else a new one. */
async function openRound(
  file: EvalFile,
  target: Target,
  { fresh }: EvalRunOptions,
  tell: (text: string) => void,
): Promise<OpenRound> {
  const last = keptRounds(file).at(-1)
  if (last !== undefined && last.end?.why !== 'complete' && fresh !== true) {
    const ids = last.head.items.map(({ id }) => id)
    const plan = await planRound(file, () => Promise.resolve(target), ids)
    if (plan.hash === last.head.plan) {
      endHalfLine(last.file)
      const planned = plan.items.length * plan.variants.length
      tell(`Goes on with round ${last.head.round}: ${last.results.length} of ${count(planned, 'run')} ended before.`)
      return { plan, path: last.file, round: last }
    }
    tell(
      `Round ${last.head.round} stays as it is, ${last.results.length} runs of it ended: data, documents or checks are others now.`,
    )
  }
  const plan = await planRound(file, () => Promise.resolve(target))
  const head = headOf(plan)
  const path = beginRound(file, head)
  tell(
    `Round ${head.round}: ${count(plan.items.length, 'item')}, ${count(plan.variants.length, 'variant')}; kept in ${path}`,
  )
  return { plan, path, round: { head, started: new Map(), results: [], end: undefined, file: path } }
}

function headOf(plan: Plan): RoundHead {
  const at = new Date().toISOString()
  return {
    type: 'round',
    v: 1,
    eval: plan.name,
    round: `${at.replace(/[-:]|\.\d+Z$/g, '')}-${randomBytes(2).toString('hex')}`,
    at,
    plan: plan.hash,
    variants: plan.variants.map(({ name, sha256 }) => ({ name, sha256 })),
    items: plan.items.map(({ id, sha256 }) => ({ id, sha256 })),
    asserted: plan.asserted,
  }
}

/** On a terminal one line that changes, elsewhere one each tenth. */
function progressOf(session: Session, planned: number, isJson: boolean) {
  let tenths = 0
  const noted = new Set<string>()
  const line = (done: readonly ResultLine[]) => {
    const usd = done.reduce((sum, result) => sum + (result.usd ?? 0), 0)
    return `${done.length} of ${count(planned, 'run')}${usd > 0 ? `, ${usdWords(usd)}` : ''}`
  }
  return {
    progress(done: readonly ResultLine[]) {
      if (isJson) return
      if (session.live) {
        void session.write(`\r${line(done)}\u001b[K${done.length === planned ? '\n' : ''}`)
        return
      }
      const now = Math.floor((done.length / planned) * 10)
      if (now > tenths) session.say(line(done))
      tenths = now
    },
    note(words: string) {
      if (noted.has(words)) return
      noted.add(words)
      session.warn(oneLine(words))
    },
  }
}

/** `sluice eval show` */
export function showEval(session: Session, given: string | undefined, options: EvalShowOptions): void {
  try {
    const file = readEvalFile(chooseEval(given))
    const rounds = keptRounds(file)
    const newest = rounds.at(-1)
    if (newest === undefined)
      throw usageError(`There is no round of ${file.name} yet: \`sluice eval run ${file.path}\` makes one.`)
    const round = options.round === undefined ? newest : findRound(file, options.round)
    const before =
      options.against === undefined ? roundBefore(rounds, round.head.round) : findRound(file, options.against)
    sayReport(session, round, reportRound(round, file.evaluation.thresholds, before), options)
  } catch (error) {
    throw asRefused(error)
  }
}

/** Exit code 3: it is not complete; 100: a threshold does not hold. */
function sayReport(
  session: Session,
  round: KeptRound,
  report: Report,
  { json, junit }: Pick<EvalShowOptions, 'json' | 'junit'>,
): void {
  if (junit !== undefined) writeNewFile(junit, junitOf(round, report), true)
  if (json === true) session.say(jsonText({ ...report, file: round.file }, 2))
  else for (const line of reportLines(report, round.file)) session.say(line)
  const isHeld = report.thresholds.every(({ held }) => held)
  process.exitCode = report.complete ? (isHeld ? 0 : 100) : 3
}
