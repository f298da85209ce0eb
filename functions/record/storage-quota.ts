import { Fault } from '../../shared/errors.ts'
import type { Head } from '../../shared/runs/head.ts'
import { oldestKeptWeek, type RunKey, weekExpirySeconds, weekOf } from '../../shared/runs/run-store.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { World } from '../../shared/world.ts'
import { shareRunCache } from './pinned-run.ts'

/** Objects outlive the runs that name them by so many days (infra/aws/data-stack.ts, infra/local/sweep.ts). */
const LONGER_DAYS = 30

type Asking = Pick<World, 'runs' | 'settings' | 'clock'>
type Storing = Asking & Pick<World, 'objects'>

/** What one invocation stores for one run, and how much room is left (docs/adr/0068). */
export interface Storage<W extends Storing = World> {
  /** As it was given: for what is another run's. */
  readonly given: W
  /** Every put of it is counted, and its appends to the run carry what is counted. */
  readonly world: W
  /** The same; a put that does not fit is Fault LimitExceeded storage_quota. */
  readonly bounded: W
  /** Fault LimitExceeded storage_quota where so many bytes more do not fit: before the first of several puts. */
  requireRoom(bytes: number): Promise<void>
  /** Somebody else stored so many bytes for this run: the next append counts them. */
  stored(bytes: number): void
  /** HEAD was read: it says how much others stored. */
  seen(head: Head): void
}

/** Counted by one invocation. */
interface Tally {
  /** As HEAD said, with what own appends told it since; undefined = not read yet. */
  known: number | undefined
  /** Stored, and in no append. */
  pending: number
  /** Stored, and not told to the tenant's count. */
  untold: number
  /** Stored by the tenant, as it was read once and with what was stored here since. */
  total: number | undefined
}

/** `block`: whose work it is, for the words of a refusal. */
export function openCountedStorage<W extends Storing>(given: W, run: RunKey, block?: string): Storage<W> {
  const tally: Tally = { known: undefined, pending: 0, untold: 0, total: undefined }
  const put: World['objects']['put'] = async (tenant, body) => {
    const stored = await given.objects.put(tenant, body).catch((error: unknown) => {
      throw perhapsStored(error, `objstore://${tenant}/${sha256(body)}`)
    })
    count(tally, stored.bytes)
    return stored
  }
  const requireRoom = async (bytes: number) => {
    await requireOfRun(given, tally, { run, block, bytes })
    await requireOfTenant(given, tally, { run, block, bytes })
  }
  const world = withPorts(given, {
    objects: over(given.objects, { put }),
    runs: countingRuns(given, run, tally),
  })
  const putBounded: World['objects']['put'] = async (tenant, body) => {
    await requireRoom(body.byteLength)
    return put(tenant, body)
  }
  return {
    given,
    world,
    // Few ask for it.
    get bounded() {
      return withPorts(world, { objects: over(given.objects, { put: putBounded }) })
    },
    requireRoom,
    stored: (bytes) => count(tally, bytes),
    seen({ stored_bytes }) {
      tally.known = stored_bytes ?? 0
    },
  }
}

/** Nobody knows whether it is there: the words name it, so that whoever erases the run finds it where they are recorded. */
function perhapsStored(error: unknown, ref: string): unknown {
  if (!(error instanceof Fault)) return error
  const { name, code, facts, issues, status, message } = error
  return new Fault(name, code, `${message} It may be stored as ${ref}.`, { facts, issues, status, cause: error })
}

function count(tally: Tally, bytes: number): void {
  tally.pending += bytes
  tally.untold += bytes
  if (tally.total !== undefined) tally.total += bytes
}

/**
 * A World with other ports. A plain one is copied, since every look at what inherits from an object of one call alone is
 * dear; one whose ports may be getters that refuse (functions/aws/world.ts) is inherited.
 */
function withPorts<W extends Storing>(world: W, ports: Partial<Storing>): W {
  return Object.getPrototypeOf(world) === Object.prototype ? { ...world, ...ports } : over<W, Storing>(world, ports)
}

/** The same but for these members; what it refuses to give it still refuses. */
function over<T extends M, M extends object>(base: T, members: Partial<M>): T {
  return Object.assign(Object.create(base), members)
}

/**
 * Appends and the birth of the run carry what was stored before them. Where one is refused, or nobody knows whether it was
 * taken, the next carries it: a run counts too much rather than too little.
 */
function countingRuns(given: Storing, run: RunKey, tally: Tally): World['runs'] {
  const carry = async <T>(
    write: (stored: { readonly stored_bytes?: number }) => Promise<T>,
    took: (done: T) => boolean,
  ) => {
    await tellTenant(given, run.tenant, tally)
    const bytes = tally.pending
    // Another may be handed over before this one is answered.
    tally.pending = 0
    const done = await write(bytes === 0 ? {} : { stored_bytes: bytes }).catch((error: unknown) => {
      tally.pending += bytes
      throw error
    })
    if (!took(done)) tally.pending += bytes
    else if (tally.known !== undefined) tally.known += bytes
    return done
  }
  const isOwn = (of: RunKey) => of.run_id === run.run_id && of.tenant === run.tenant
  const counting = over<World['runs'], World['runs']>(given.runs, {
    append: (append) => {
      if (!isOwn(append.run)) return given.runs.append(append)
      return carry(
        (stored) => given.runs.append({ ...append, ...stored }),
        ({ ok }) => ok,
      )
    },
    create: (made) => {
      if (!isOwn(made.meta)) return given.runs.create(made)
      return carry(
        (stored) => given.runs.create({ ...made, ...stored }),
        ({ created }) => created,
      )
    },
  })
  return shareRunCache(counting, given.runs)
}

interface Asked {
  readonly run: RunKey
  readonly block: string | undefined
  readonly bytes: number
}

async function requireOfRun({ runs, settings }: Asking, tally: Tally, { run, block, bytes }: Asked): Promise<void> {
  const quota = settings.safety.max_run_bytes
  tally.known ??= (await runs.head(run, []))?.stored_bytes ?? 0
  const stored = tally.known + tally.pending
  if (stored + bytes <= quota) return
  const who = block === undefined ? `run "${run.run_id}"` : `block "${block}" of run "${run.run_id}"`
  throw overQuota(`for ${who}: the run has stored ${inBytes(stored)}`, 'max_run_bytes', { stored, bytes, quota })
}

async function requireOfTenant(asking: Asking, tally: Tally, { run, block, bytes }: Asked): Promise<void> {
  const quota = asking.settings.safety.max_tenant_bytes
  if (quota === undefined) return
  tally.total ??= (await tenantBytes(asking, run.tenant)) + tally.untold
  if (tally.total + bytes <= quota) return
  const who = block === undefined ? `run "${run.run_id}"` : `block "${block}" of run "${run.run_id}"`
  throw overQuota(`for ${who}: tenant "${run.tenant}" has stored ${inBytes(tally.total)}`, 'max_tenant_bytes', {
    stored: tally.total,
    bytes,
    quota,
  })
}

/**
 * A body that a person brings: counts to the tenant alone. Fault LimitExceeded storage_quota, 413. Counted before it is
 * stored, since a presigned upload is seen by nobody here: one that never comes counts until its week ends.
 */
export async function countUploadBytes(asking: Asking, tenant: string, bytes: number): Promise<void> {
  const quota = asking.settings.safety.max_tenant_bytes
  if (quota === undefined) return
  const stored = await tenantBytes(asking, tenant)
  if (stored + bytes > quota) {
    const what = `of this upload: tenant "${tenant}" has stored ${inBytes(stored)}`
    throw overQuota(what, 'max_tenant_bytes', { stored, bytes, quota })
  }
  await tell(asking, tenant, bytes)
}

/** Bytes the tenant stored and that may still be there, as they were counted since it has a quota. */
export function tenantBytes({ runs, settings, clock }: Asking, tenant: string): Promise<number> {
  return runs.storedSince(tenant, oldestKeptWeek(clock.now(), keptDays(settings)))
}

async function tellTenant(asking: Asking, tenant: string, tally: Tally): Promise<void> {
  if (asking.settings.safety.max_tenant_bytes === undefined || tally.untold === 0) return
  const bytes = tally.untold
  tally.untold = 0
  await tell(asking, tenant, bytes).catch((error: unknown) => {
    tally.untold += bytes
    throw error
  })
}

async function tell({ runs, settings, clock }: Asking, tenant: string, bytes: number): Promise<void> {
  const week = weekOf(clock.now())
  await runs.countStored(tenant, { week, bytes, ttl: weekExpirySeconds(week, keptDays(settings)) })
}

function keptDays({ body_days, safety }: Settings): number {
  return body_days ?? safety.retention_days + LONGER_DAYS
}

export function isOverQuota(error: unknown): error is Fault {
  return error instanceof Fault && error.code === STORAGE_QUOTA
}

/** Code of what does not fit; no other try of it helps. */
export const STORAGE_QUOTA = 'storage_quota'

interface Figures {
  readonly stored: number
  readonly bytes: number
  readonly quota: number
}

function overQuota(what: string, setting: 'max_run_bytes' | 'max_tenant_bytes', figures: Figures): Fault {
  const { bytes, quota } = figures
  const message = `Cannot store ${inBytes(bytes)} ${what}, its quota is ${inBytes(quota)}. Store less, or raise safety.${setting}.`
  return new Fault('LimitExceeded', STORAGE_QUOTA, message, {
    status: 413,
    facts: { setting, stored_bytes: figures.stored, asked_bytes: bytes, quota_bytes: quota },
  })
}

function inBytes(bytes: number): string {
  return `${bytes.toLocaleString('en-US')} bytes`
}
