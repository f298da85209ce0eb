import type { Command } from 'commander'
import type * as z from 'zod'
import { ERASURE_ROUTES } from '../../../shared/api/erasure-routes.ts'
import { SEARCH_ROUTES } from '../../../shared/api/search-routes.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { count } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions, withTargetOptions } from '../terminal/options.ts'
import { requireConfirmation } from '../terminal/prompts.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'
import { GOES, STAYS } from './erase.ts'
import { ListSchema, sayRuns } from './list.ts'

interface SubjectOptions extends TargetOptions {
  readonly why: string
  readonly whenEnded?: true
  readonly yes?: true
}

/** `sluice subject`: the runs that hold somebody's data, found by the search and erased one by one (docs/operate.md). */
export function addSubject(parent: Command, session: Session): void {
  const subject = parent.command('subject').description('runs that hold the data of one subject: find them, erase them')
  withReadingOptions(subject.command('show').description('the runs that hold data of a subject, newest first'))
    .argument('<id>', 'as the document or the start named it')
    .action((id: string, options: TargetOptions) => show(session, id, options))
  withTargetOptions(subject.command('erase').description('erase every run of a subject that is over; records stay'))
    .argument('<id>', 'as the document or the start named it')
    .requiredOption('--why <text>', 'kept for good in the records: name nobody')
    .option('--when-ended', 'erase those that go on as soon as they have ended')
    .option('--yes', 'without asking')
    .action((id: string, options: SubjectOptions) => erase(session, id, options))
}

async function show(session: Session, id: string, { url, json }: TargetOptions): Promise<void> {
  const found = await findRuns(chooseTarget(session, url), id)
  if (json === true) return session.say(jsonText({ runs: found.runs }, 2))
  sayRuns(session, found, NOBODY)
}

const NOBODY = 'No run holds data of this subject, as far as a document or a start said whose data it holds.'

type Found = z.infer<typeof AnswerSchema>

async function findRuns(target: Target, id: string): Promise<Pick<Found, 'runs' | 'damaged'>> {
  const q = `subject:"${id.replace(/(["\\])/g, '\\$1')}"`
  const runs: Found['runs'][number][] = []
  const damaged: NonNullable<Found['damaged']>[number][] = []
  let cursor: string | null | undefined
  do {
    const query = { q, limit: PAGE, ...(cursor ? { cursor } : {}) }
    const page = await callApi(target, AnswerSchema, (api) => api.GET('/api/dag/search', { params: { query } }))
    runs.push(...page.runs)
    damaged.push(...(page.damaged ?? []))
    cursor = page.next_cursor
  } while (cursor !== null)
  return { runs, ...(damaged.length > 0 && { damaged }) }
}

const PAGE = 200

const AnswerSchema = SEARCH_ROUTES['search-runs'].answer.extend({ runs: ListSchema.shape.runs }).loose()

/** What became of one of them. */
interface Asked {
  readonly run_id: string
  readonly is: 'asked' | 'waits' | 'refused'
  readonly code?: string
  readonly detail?: string
}

/** Broken off, or with some refused, the same command goes on: what is being erased is asked for once more, and changes nothing. */
async function erase(session: Session, id: string, options: SubjectOptions): Promise<void> {
  const { url, json, why, whenEnded, yes } = options
  const target = chooseTarget(session, url)
  const { runs, damaged } = await findRuns(target, id)
  if (json !== true) sayRuns(session, { runs, ...(damaged && { damaged }) }, NOBODY)
  if (runs.length > 0) {
    const question = questionOf(runs, whenEnded === true)
    const instead = 'Nothing was erased: you did not say yes.'
    await requireConfirmation(session, { question, yes: yes === true, instead })
  }
  const asked: Asked[] = []
  for (const { run_id } of runs) {
    const one = await ask(target, run_id, { reason: why, ...(whenEnded === true && { when_ended: true }) })
    asked.push(one)
    if (json !== true) session.say(lineOf(one))
  }
  if (json === true) session.say(jsonText({ found: runs.length, runs: asked }, 2))
  const refused = asked.filter(({ is }) => is === 'refused').length
  if (json !== true && runs.length > 0)
    session.say(
      `${runs.length - refused} of ${count(runs.length, 'run')} on the way; the same command goes on with the rest.`,
    )
  if (refused > 0) process.exitCode = 1
}

function questionOf(runs: Found['runs'], isWhenEnded: boolean): string {
  const over = runs.filter(({ ended_at }) => typeof ended_at === 'string').length
  const live = runs.length - over
  const stays = isWhenEnded ? 'will go at the end' : 'stay: they go on'
  const going = live === 0 ? '' : ` ${live} more ${stays}.`
  return `Erase ${count(over, 'run')} for good?${going} What goes: ${GOES}. What stays: ${STAYS}, and whatever another run names too.`
}

async function ask(target: Target, run_id: string, body: { reason: string; when_ended?: boolean }): Promise<Asked> {
  try {
    const { erasure } = await callApi(target, ERASURE_ROUTES['erase-run'].answer.loose(), (api) =>
      api.DELETE('/api/dag/runs/{run_id}', { params: { path: { run_id } }, body }),
    )
    return { run_id, is: erasure?.when_ended === true && erasure.step === 'asked' ? 'waits' : 'asked' }
  } catch (error) {
    // Held, going on, of a run above it: each is told with its run, and the others are erased.
    if (!(error instanceof Refused) || !TOLD.has(error.reason.code)) throw error
    return { run_id, is: 'refused', code: error.reason.code, detail: error.reason.detail }
  }
}

const TOLD: ReadonlySet<string> = new Set([
  'run_held',
  'run_not_ended',
  'run_at_work',
  'run_of_parent',
  'unknown_run',
  'run_erased',
])

function lineOf({ run_id, is, detail = '' }: Asked): string {
  if (is === 'refused') return oneLine(`${run_id}  not erased: ${detail}`)
  return is === 'waits' ? `${run_id}  goes on; it is erased as soon as it has ended` : `${run_id}  is being erased`
}
