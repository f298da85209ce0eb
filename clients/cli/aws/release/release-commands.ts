import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import {
  isSameRelease,
  type Routing,
  shiftRouting,
  takeBackRouting,
  versionsToDelete,
} from '../../../../shared/runs/release.ts'
import { count } from '../../terminal/format.ts'
import { type StageOptions, wholeNumber, withStageOptions } from '../../terminal/options.ts'
import { requireConfirmation } from '../../terminal/prompts.ts'
import { Refused } from '../../terminal/refused.ts'
import type { Session } from '../../terminal/session.ts'
import { jsonText } from '../../terminal/text.ts'
import { readStage } from '../cdk-json.ts'
import type { StageReleases, WrittenRouting } from './stage-releases.ts'

/** `sluice rollout`: which release of a deployed stage new runs begin with. Needs a stage with `sluice:release: gradual`. */
export function addRelease(parent: Command, session: Session): void {
  const release = parent.command('rollout').description('which release of a deployment new runs begin with')
  addStatus(release, session)
  addShift(release, session)
  addRollback(release, session)
  addPrune(release, session)
}

interface StatusOptions extends StageOptions {
  readonly json?: true
}

function addStatus(parent: Command, session: Session): void {
  withStageOptions(parent.command('status'))
    .description('the release that is deployed, and which new runs begin with')
    .option('--json', 'print JSON')
    .action(async (options: StatusOptions) => {
      const releases = await open(options)
      const routing = await releases.routing()
      if (options.json !== true) return session.say(statusLines(releases, routing).join('\n'))
      const { rev: _rev, ...told } = routing ?? { rev: 0 }
      session.say(jsonText({ deployed: releases.deployed, routing: routing === undefined ? null : told }))
    })
}

async function open(options: StageOptions): Promise<StageReleases> {
  const stage = readStage(options.stage)
  const { openStageReleases } = await import('./stage-releases.ts')
  return openStageReleases(stage, options)
}

function statusLines({ deployed }: StageReleases, routing: WrittenRouting | undefined): readonly string[] {
  if (routing === undefined)
    return [`Release ${deployed.id} is deployed. No run was started yet: the first begins with it.`]
  const isDeployed = isSameRelease(deployed, routing.to)
  const waits = isDeployed
    ? ''
    : routing.taken_back === deployed.id
      ? `, taken back ${routing.at}`
      : '; no run begins with it until it is shifted'
  return [`Release ${deployed.id} is deployed${waits}.`, routingLine(routing)]
}

function routingLine({ percent, to, from, at, by }: Routing): string {
  const shares =
    from === undefined || percent === 100
      ? `all begin with ${to.id}`
      : `${percent} of 100 begin with ${to.id}, the others with ${from.id}`
  const back = from === undefined ? '' : `; \`rollout rollback\` gives all to ${from.id}`
  return `New runs: ${shares}, since ${at} (${by})${back}.`
}

interface ChangeOptions extends StageOptions {
  readonly yes?: true
}

interface ShiftOptions extends ChangeOptions {
  readonly again?: true
  readonly watch?: number
}

function addShift(parent: Command, session: Session): void {
  withStageOptions(parent.command('shift'))
    .description('let so many of 100 new runs begin with the release that is deployed')
    .argument('<percent>', '1 to 100', wholeNumber(1, 100))
    .option('--watch <minutes>', 'wait so long, and fail when it is taken back meanwhile', wholeNumber(1, 1_440))
    .option('--again', 'also where it was taken back before')
    .option('--yes', 'do not ask')
    .action((percent: number, options: ShiftOptions) => shift(session, percent, options))
}

async function shift(session: Session, percent: number, options: ShiftOptions): Promise<void> {
  const releases = await open(options)
  const before = await releases.routing()
  requireNotTakenBack(releases, before, options.again === true)
  const asked = { at: new Date().toISOString(), by: releases.by }
  const next = shiftRouting(before, releases.deployed, percent, asked)
  if (next.percent !== percent)
    session.warn('There is no other release to share with: all new runs begin with the deployed one.')
  await change(session, releases, {
    next,
    before,
    question: `Let ${next.percent} of 100 new runs begin with ${next.to.id}?`,
    yes: options.yes === true,
  })
  if (options.watch !== undefined) await watch(session, releases, next, options.watch)
}

function requireNotTakenBack({ deployed }: StageReleases, routing: Routing | undefined, again: boolean): void {
  if (again || routing?.taken_back !== deployed.id) return
  const detail = `Release ${deployed.id} was taken back (${routing.at}, ${routing.by}). Deploy one that is mended, or say --again.`
  throw new Refused({ code: 'release_taken_back', detail })
}

interface Change {
  readonly next: Routing
  readonly before: WrittenRouting | undefined
  readonly question: string
  readonly yes: boolean
}

async function change(session: Session, releases: StageReleases, { next, before, question, yes }: Change) {
  await requireConfirmation(session, { question, yes, instead: 'Nothing was changed.' })
  if (!(await releases.write(next, before))) {
    const detail = 'Nothing was changed: somebody else, or an alarm, changed it meanwhile. See `rollout status`.'
    throw new Refused({ code: 'changed_meanwhile', detail })
  }
  session.say(routingLine(next))
  session.say('True of every start from ten seconds on; runs under way keep the release they began with.')
}

/** Between two looks at what the alarm did. */
const LOOK_MS = 10_000

async function watch(session: Session, releases: StageReleases, shifted: Routing, minutes: number): Promise<void> {
  session.say(`Watching for ${count(minutes, 'minute')}: alarm ReleaseFailureRate takes it back (docs/operate.md).`)
  const end = Date.now() + minutes * 60_000
  for (;;) {
    const now = await releases.routing()
    if (now?.at !== shifted.at) {
      const what = now?.taken_back === shifted.to.id ? 'was taken back' : 'was changed'
      const detail = `The shift to ${shifted.to.id} ${what}: ${now === undefined ? 'it is gone' : routingLine(now)}`
      throw new Refused({ code: 'release_taken_back', detail })
    }
    if (Date.now() >= end) break
    await delay(Math.min(LOOK_MS, end - Date.now()))
  }
  session.say(`Nothing took ${shifted.to.id} back.`)
}

function addRollback(parent: Command, session: Session): void {
  withStageOptions(parent.command('rollback'))
    .description('let all new runs begin with the release before; nothing is deployed')
    .option('--yes', 'do not ask')
    .action((options: ChangeOptions) => rollBack(session, options))
}

async function rollBack(session: Session, options: ChangeOptions): Promise<void> {
  const releases = await open(options)
  const before = await releases.routing()
  const next = before && takeBackRouting(before, { at: new Date().toISOString(), by: releases.by })
  if (before === undefined || next === undefined) {
    const detail = `There is nothing to take back: ${before === undefined ? 'no run was started yet' : `all new runs begin with ${before.to.id}, and no release before it is known`}.`
    throw new Refused({ code: 'nothing_to_take_back', detail })
  }
  const question = `Let all new runs begin with ${next.to.id} again?`
  await change(session, releases, { next, before, question, yes: options.yes === true })
}

function addPrune(parent: Command, session: Session): void {
  withStageOptions(parent.command('prune'))
    .description('delete versions of functions that no run can call any more')
    .option('--yes', 'do not ask')
    .action((options: ChangeOptions) => prune(session, options))
}

async function prune(session: Session, options: ChangeOptions): Promise<void> {
  const releases = await open(options)
  const [published, routing, used] = await Promise.all([releases.published(), releases.routing(), releases.used()])
  const old = versionsToDelete(published, { routing, deployed: releases.deployed, used }, Date.now())
  session.say(`${count(published.length, 'version')} of functions; ${old.length} of them no run can call any more.`)
  if (old.length === 0) return
  const question = `Delete ${count(old.length, 'version')}?`
  await requireConfirmation(session, { question, yes: options.yes === true, instead: 'Nothing was deleted.' })
  for (const version of old) await releases.remove(version)
  session.say(`Deleted ${count(old.length, 'version')}.`)
}
