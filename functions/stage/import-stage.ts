import { type Copied, STAGE_ROUTES } from '../../shared/api/stage-routes.ts'
import { type Principal, principalName } from '../../shared/auth/principal.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { type Entity, readEntity } from '../../shared/graph/entity.ts'
import { BATCH } from '../../shared/graph/graph-store.ts'
import { checkRun } from '../../shared/invariants/check-run.ts'
import { badCopy, type CopiedRun, readCopiedRun } from '../../shared/runs/copied-run.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import type { SpendingLedger } from '../../shared/spending/ledger.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { TriggerKey } from '../../shared/triggers/trigger.ts'
import type { Firing, TriggerState } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'
import { eraseBroughtBack } from '../erasure/brought-back.ts'
import { writeGraph } from '../graph/write-graph.ts'
import { changeHandler } from '../http-handler.ts'
import { countUploadBytes } from '../record/storage-quota.ts'

/**
 * Takes records of a copy (`sluice stage import`). It adds what is not there and changes nothing that is: the same again is
 * `there`, another of the name is refused and named. So it may be repeated, and go on after a break.
 */
export const handler = changeHandler({
  name: 'import-stage',
  schema: STAGE_ROUTES['import-stage'],
  async run({ body, principal }, world) {
    if (body.what === 'body') {
      const uploads = await openUploads(world, principal.tenant, body.bodies)
      return { json: { taken: 0, there: 0, refused: [], uploads } }
    }
    const sum: Taken = { taken: 0, there: 0, refused: [] }
    for (const ref of body.refs) {
      const text = Buffer.from(await world.objects.get(principal.tenant, ref)).toString('utf8')
      await TAKES[body.what](world, principal, readLines(text), sum)
    }
    const { taken, there, refused } = sum
    const by = principalName(principal)
    world.log.info('copy imported', { what: body.what, by, taken, there, refused: refused.length })
    return { json: { taken, there, refused: refused.slice(0, MOST_TOLD) } }
  },
})

const MOST_TOLD = 100

/** What came of it so far. */
interface Taken {
  taken: number
  there: number
  readonly refused: { readonly id: string; readonly code: string; readonly message: string }[]
}

interface Body {
  readonly sha256: string
  readonly size: number
}

/** An empty body no address takes: it is stored here. */
async function openUploads(world: World, tenant: string, bodies: readonly Body[]) {
  await countUploadBytes(
    world,
    tenant,
    bodies.reduce((sum, { size }) => sum + size, 0),
  )
  const opened = bodies.map(async ({ sha256: hash, size }) => {
    if (size === 0) return void (await world.objects.put(tenant, new Uint8Array()))
    const { headers, ...ticket } = await world.uploads.open(tenant, { sha256: hash, size })
    return { sha256: hash, ...ticket, headers: { ...headers } }
  })
  return (await Promise.all(opened)).flatMap((one) => one ?? [])
}

function readLines(text: string): readonly Json[] {
  return text.split('\n').flatMap((line, i): Json[] => {
    if (line === '') return []
    try {
      return [JSON.parse(line)]
    } catch {
      throw badCopy(`line ${i + 1} is no JSON`, 'a JSON object a line')
    }
  })
}

type Take = (world: World, principal: Principal, lines: readonly Json[], sum: Taken) => Promise<void>

const TAKES: Readonly<Record<Copied, Take>> = {
  run: takeRun,
  graph: takeGraph,
  triggers: takeTriggers,
  spending: takeSpending,
}

const DAY_MS = 86_400_000

async function takeRun(world: World, principal: Principal, lines: readonly Json[], sum: Taken): Promise<void> {
  const { runs, clock, settings } = world
  const { tenant } = principal
  const copied = readCopiedRun(lines, tenant)
  const { sealed: _, links, goal_attempts, ...run } = copied
  const { run_id } = run.meta
  const days = settings.safety.retention_days
  if (Date.parse(run.events.at(-1)?.at ?? '') < clock.now() - days * DAY_MS) {
    const message = `Cannot take run "${run_id}": it ended more than ${days} days ago, and runs are kept that long here (safety.retention_days).`
    return void sum.refused.push({ id: run_id, code: 'run_expired', message })
  }
  const erasure = (await runs.mark({ tenant, run_id }))?.erasure
  if (erasure !== undefined) {
    const message = `Cannot take run "${run_id}": ${erasure.by} had it erased here (${erasure.at}), and what is erased stays away: bodies that came with it are erased again, within hours. \`sluice run erasure ${run_id}\` shows the record.`
    await eraseBroughtBack(
      world,
      { tenant, run_id },
      erasure,
      lines.map((line) => JSON.stringify(line)),
    )
    return void sum.refused.push({ id: run_id, code: 'run_erased', message })
  }
  const unsound = await unsoundPart(world, copied)
  if (unsound !== undefined) {
    const message = `Cannot take run "${run_id}": its record does not fit together: ${unsound}. \`sluice run verify\` says the same where it ran.`
    return void sum.refused.push({ id: run_id, code: 'run_unsound', message })
  }
  const imported = { at: new Date(clock.now()).toISOString(), by: principalName(principal) }
  const isNew = await runs.adopt({ ...run, meta: { ...run.meta, imported } })
  const there = isNew ? undefined : await runs.sealed({ tenant, run_id })
  if (!isNew && (there?.seq !== run.events.length || there.hash !== hashAfter(run.events))) {
    const message = `Cannot take run "${run_id}": another run of that id is here, and stays as it is.`
    return void sum.refused.push({ id: run_id, code: 'run_differs', message })
  }
  // Also of one that is there: who took it may have died before these.
  for (const link of links) await runs.linkRun(tenant, run_id, link)
  for (const { n, ...attempt } of goal_attempts) await runs.putGoalAttempt(tenant, run_id, n, attempt)
  sum[isNew ? 'taken' : 'there'] += 1
}

/**
 * What does not hold of a record by itself (docs/invariants.md): the chain is over its events alone, and HEAD and what lies
 * beside it have to follow from them. What needs bodies or other runs is not asked: those may come later, or have expired.
 */
async function unsoundPart({ objects, clock }: World, copied: CopiedRun): Promise<string | undefined> {
  const { meta, head, context, events, projections, approvals, artifacts } = copied
  const document = await objects.get(meta.tenant, meta.dag_ref).catch(() => undefined)
  const parts = { meta, head, context, events, projections, approvals, artifacts }
  // Verified against its hash: it is the document start-run wrote.
  const dag: Dag | undefined = document && JSON.parse(Buffer.from(document).toString('utf8'))
  const checks = await checkRun(dag === undefined ? parts : { ...parts, dag }, undefined, clock.turn)
  const [failed] = checks.filter(({ ok }) => !ok)
  return failed && `check ${failed.n}, ${failed.title}: ${failed.problems[0]?.slice(0, 300)}`
}

async function takeGraph(world: World, { tenant }: Principal, lines: readonly Json[], sum: Taken): Promise<void> {
  const given = lines.map(entityOf)
  for (let at = 0; at < given.length; at += BATCH) await takeEntities(world, tenant, given.slice(at, at + BATCH), sum)
}

async function takeEntities(world: World, tenant: string, given: readonly Entity[], sum: Taken): Promise<void> {
  const ids = given.map(({ entity_id }) => entity_id)
  const here = new Map((await world.graph.entities(tenant, ids)).map((one) => [one.entity_id, canonicalJson(one)]))
  const absent = given.filter(({ entity_id }) => !here.has(entity_id))
  const outcomes = await writeGraph(world, tenant, absent, () => world.graph.put(tenant, absent))
  for (const one of outcomes) {
    if (one.outcome === 'failed') sum.refused.push({ id: one.entity_id, code: one.code, message: one.message })
    else sum.taken += 1
  }
  for (const entity of given) {
    const stored = here.get(entity.entity_id)
    if (stored === canonicalJson(entity)) sum.there += 1
    else if (stored !== undefined) {
      const message = `Entity "${entity.entity_id}" says something else here, and stays as it is.`
      sum.refused.push({ id: entity.entity_id, code: 'entity_differs', message })
    }
  }
}

function entityOf(line: Json, i: number): Entity {
  const value = (line as { readonly entity?: unknown } | null)?.entity
  const read = readEntity(value)
  if ('entity' in read) return read.entity
  throw badCopy(`line ${i + 1} is no entity: ${read.issues[0]?.message ?? ''}`, 'an entity a line')
}

type TriggerLine = { readonly trigger: TriggerState } | { readonly firing: Firing }

async function takeTriggers(world: World, principal: Principal, lines: readonly Json[], sum: Taken): Promise<void> {
  // Our own texts, as an export wrote them.
  for (const line of lines as unknown as readonly TriggerLine[]) {
    requireOwn(world, principal, 'trigger' in line ? line.trigger : line.firing)
    const isNew =
      'trigger' in line ? await takeState(world, principal, line.trigger) : await takeFiring(world, line.firing)
    sum[isNew ? 'taken' : 'there'] += 1
  }
}

function requireOwn({ settings }: World, { tenant }: Principal, one: TriggerKey | undefined): void {
  if (one?.tenant === tenant && tenant === settings.triggers.tenant) return
  throw badCopy(
    `trigger ${one?.document}/${one?.trigger} is of tenant "${one?.tenant}"`,
    `triggers of "${settings.triggers.tenant}", whose runs documents start here`,
  )
}

/** A state that comes is paused: two stages with the same documents would start the same runs. */
function takeState({ triggers, clock }: World, principal: Principal, state: TriggerState): Promise<boolean> {
  const { active: _, ...rest } = state
  const at = new Date(clock.now()).toISOString()
  const paused = { by: principalName(principal), at, reason: 'It was imported: resume it where it is to start runs.' }
  return triggers.putState({ ...rest, version: 1, paused: state.paused ?? paused })
}

async function takeFiring({ triggers }: World, firing: Firing): Promise<boolean> {
  const { id, document, trigger, state } = firing
  if (state === 'owed') throw badCopy(`a firing of ${document}/${trigger} is still owed`, 'firings that are over')
  if ((await triggers.firing(firing, id)) !== undefined) return false
  await triggers.keepFiring(firing)
  return true
}

interface LedgerLine {
  readonly ledger: SpendingLedger & { readonly cap: string; readonly period: string; readonly ttl: number }
}

/**
 * Counts what was used elsewhere to what is counted here, once: a raise of nothing notes that it was. Who dies between the two
 * and comes again counts it twice rather than not at all.
 */
async function takeSpending(
  { spending, clock }: World,
  principal: Principal,
  lines: readonly Json[],
  sum: Taken,
): Promise<void> {
  const at = new Date(clock.now()).toISOString()
  // Our own texts, as an export wrote them.
  for (const { ledger } of lines as unknown as readonly LedgerLine[]) {
    if (ledger === undefined) throw badCopy('a line is no ledger', 'a ledger a line')
    const { ttl, spent, raises, cap, period } = ledger
    const name = { cap, period }
    const id = `import-${sha256(canonicalJson({ ...name, spent, raises })).slice(0, 24)}`
    const here = await spending.read(name)
    if (here.raises.some((raise) => raise.id === id)) {
      sum.there += 1
      continue
    }
    for (const raise of raises) await spending.raise(name, raise, ttl)
    const call = { id, amount: spent }
    await spending.reserve(name, call, {}, ttl)
    await spending.settle(name, call, spent)
    const reason = 'What was used before is counted.'
    await spending.raise(name, { id, tokens: 0, usd_micros: 0, by: principalName(principal), at, reason }, ttl)
    sum.taken += 1
  }
}
