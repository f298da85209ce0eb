import type { Command, CommandOptions } from 'commander'
import type * as z from 'zod'
import { ERASURE_ROUTES } from '../../../shared/api/erasure-routes.ts'
import { VERIFY_RUN } from '../../../shared/api/verify-routes.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { count } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions, withTargetOptions } from '../terminal/options.ts'
import { requireConfirmation } from '../terminal/prompts.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine } from '../terminal/text.ts'

/** A newer server may say more. */
const MarkSchema = ERASURE_ROUTES['get-erasure'].answer.loose()
type Mark = z.infer<typeof MarkSchema>

interface EraseOptions extends TargetOptions {
  readonly why: string
  readonly whenEnded?: true
  readonly yes?: true
}

interface ShowOptions extends TargetOptions {
  readonly proof?: true
}

interface HoldOptions extends TargetOptions {
  readonly why: string
  readonly lift?: true
}

/** `erase`, `erasure` and `hold`. */
export function addErase(parent: Command, session: Session, hidden?: CommandOptions): void {
  const erases = 'erase a run that is over: what it was given, said and made goes for good, a record stays'
  withTargetOptions(parent.command('erase', hidden).description(erases))
    .argument('<run-id>')
    .requiredOption('--why <text>', 'kept for good in the record: name nobody')
    .option('--when-ended', 'of a run that goes on: as soon as it has ended')
    .option('--yes', 'without asking')
    .action((runId: string, options: EraseOptions) => erase(session, runId, options))
  const shows = 'show who holds a run, or the record of its erasure'
  withReadingOptions(parent.command('erasure', hidden).description(shows))
    .argument('<run-id>')
    .option('--proof', 'the whole record with what was checked, to print and to keep')
    .action((runId: string, options: ShowOptions) => showErasure(session, runId, options))
  const holds = 'hold a run: nobody can erase it, and none of it grows too old'
  withTargetOptions(parent.command('hold', hidden).description(holds))
    .argument('<run-id>')
    .requiredOption('--why <text>', 'recorded')
    .option('--lift', 'hold it no more')
    .action((runId: string, options: HoldOptions) => hold(session, runId, options))
}

export const GOES =
  'inputs, prompts, answers, outputs, artifacts, recordings, events, what people said, and the runs below it'
export const STAYS = 'ids, times, hashes, who erased it and why'

async function erase(session: Session, runId: string, { url, json, why, whenEnded, yes }: EraseOptions): Promise<void> {
  const question = `Erase run ${runId} for good? What goes: ${GOES}. What stays: ${STAYS}, and whatever another run names too.`
  const instead = `Nothing was erased: you did not say yes to erasing run ${runId}.`
  await requireConfirmation(session, { question, yes: yes === true, instead })
  const target = chooseTarget(session, url)
  const asked = await callApi(target, MarkSchema, (api) =>
    api.DELETE('/api/dag/runs/{run_id}', {
      params: { path: { run_id: runId } },
      body: { reason: why, ...(whenEnded === true && { when_ended: true }) },
    }),
  )
  const waits = asked.erasure?.step === 'erased' || asked.erasure?.when_ended === true
  const mark = waits ? asked : await untilErased(target, runId, asked)
  if (json === true) return session.say(jsonText(mark, 2))
  for (const line of linesOf(mark, session.settings.command)) session.say(line)
}

/** A run that ended seconds ago takes as long again; where other runs are at work, a quarter of an hour: that is not waited for. */
const PATIENCE_MS = 30_000
const LOOK_MS = 500

async function untilErased(target: Target, runId: string, asked: Mark): Promise<Mark> {
  let mark = asked
  for (let waited = 0; waited < PATIENCE_MS && mark.erasure?.step !== 'erased'; waited += LOOK_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    mark = await readMark(target, runId)
  }
  return mark
}

function readMark(target: Target, runId: string): Promise<Mark> {
  return callApi(target, MarkSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}/erasure', { params: { path: { run_id: runId } } }),
  )
}

async function showErasure(session: Session, runId: string, { url, json, proof }: ShowOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const mark = await readMark(target, runId)
  if (proof === true && json !== true) return sayProof(session, target, mark)
  if (json === true) return session.say(jsonText(mark, 2))
  for (const line of linesOf(mark, session.settings.command)) session.say(line)
}

async function hold(session: Session, runId: string, { url, json, why, lift }: HoldOptions): Promise<void> {
  const request = { params: { path: { run_id: runId } }, body: { reason: why } }
  const mark = await callApi(chooseTarget(session, url), MarkSchema, (api) =>
    lift === true
      ? api.DELETE('/api/dag/runs/{run_id}/hold', request)
      : api.PUT('/api/dag/runs/{run_id}/hold', request),
  )
  if (json === true) return session.say(jsonText(mark, 2))
  for (const line of linesOf(mark, session.settings.command)) session.say(line)
}

/** The record in words, each check of it as it came out just now, and how somebody else computes it again. */
async function sayProof(session: Session, target: Target, mark: Mark): Promise<void> {
  const { run_id, erasure } = mark
  if (erasure?.step !== 'erased') {
    const detail = `There is no proof of an erasure of run ${run_id} yet: ${linesOf(mark, session.settings.command).join(' ')}`
    throw new Refused({ code: 'not_erased', detail })
  }
  const { checks } = await callApi(target, VERIFY_RUN.answer.loose(), (api) =>
    api.GET('/api/dag/runs/{run_id}/verify', { params: { path: { run_id } } }),
  )
  for (const line of proofLines(run_id, erasure)) session.say(line)
  for (const { ok, title, left_out } of checks) {
    const came = left_out === undefined ? (ok ? 'holds' : 'DOES NOT HOLD') : `left out: ${left_out}`
    session.say(`Checked         ${title}: ${oneLine(came)}`)
  }
  session.say(`Computed by     ${COMPUTED}`)
  if (checks.some(({ ok }) => !ok)) process.exitCode = 100
}

const COMPUTED =
  'sha256 over the hash of the last event and this record as canonical JSON, without step, proof and who was told'

type Erased = NonNullable<Mark['erasure']>

function proofLines(run_id: string, erasure: Erased): readonly string[] {
  const { run, by, person, at, reason, erased_at, children, bodies, slack_messages, brought_back, of, proof } = erasure
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Erasure of run', run_id],
    ['Went with', of],
    ['Document', run && `${run.dag_name} (sha256 ${run.dag_hash})`],
    ['Began, ended', run && `${run.created_at}, ${run.ended_at ?? '-'} (${run.state})`],
    ['Its chain', run && `${run.seq} events; the hash of the last was ${run.hash}`],
    ['Asked for', `${at} by ${by}${person === undefined ? '' : ` (${person})`}`],
    ['Why', reason],
    ['Erased', erased_at],
    ['Runs below it', children.length === 0 ? undefined : children.join(' ')],
    [
      'Bodies',
      bodies && `${bodies.named} named, ${bodies.erased ?? 0} erased, ${bodies.kept ?? 0} kept: others name them`,
    ],
    ['Slack', slack_messages ? `${count(slack_messages, 'message')} told to be deleted` : undefined],
    [
      'Brought back',
      brought_back === undefined ? undefined : `${brought_back} times by a copy from before, and erased again`,
    ],
    ['Proof', proof],
  ]
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [oneLine(`${name.padEnd(16)}${value}`)]))
}

function linesOf({ run_id, hold: held, erasure }: Mark, command: string): readonly string[] {
  if (held !== undefined) return [oneLine(`Run ${run_id} is held since ${held.at} by ${held.by}: ${held.reason}`)]
  if (erasure === undefined) return [`Nobody holds run ${run_id}, and it was not erased.`]
  const { step, by, at, reason, erased_at, bodies, children, proof } = erasure
  const asked = oneLine(`Asked for ${at} by ${by}: ${reason}`)
  if (step === 'asked' && erasure.when_ended === true)
    return [`Run ${run_id} is erased as soon as it has ended.`, asked]
  if (step !== 'erased') {
    return [`Run ${run_id} is being erased. \`${command} run erasure ${run_id}\` shows how far it is.`, asked]
  }
  const stays =
    bodies?.kept === undefined || bodies.kept === 0 ? '' : ` Of its bodies ${bodies.kept} stay: others name them.`
  const below = children.length === 0 ? '' : ` With it went ${count(children.length, 'run')} below it.`
  return [
    `Run ${run_id} was erased ${erased_at}.${below}${stays}`,
    asked,
    `Record ${proof}: \`${command} run verify ${run_id}\` computes it again.`,
  ]
}
