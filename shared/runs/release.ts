import * as z from 'zod'

/**
 * Gradual release (docs/adr/0092): the code of what machines call, as one deployment published it. A run is drawn to one of
 * two releases when its execution starts, and its input names the version of every function from then on.
 */
export interface Release {
  /** Twelve digits of the hash of its bundles, for people and metrics. */
  readonly id: string
  /** By placeholder of a function (`RunBlock`): what follows its ARN, `:12`. */
  readonly code: Readonly<Record<string, string>>
}

/** Which release new runs begin with. One item of a stage; whoever changes it writes the next `rev`. */
export interface Routing {
  /** So many of a hundred new runs begin with `to`, the others with `from`. */
  readonly percent: number
  readonly to: Release
  /** Absent: there is no other, and nothing to take back to. */
  readonly from?: Release | undefined
  /** ISO time of the change. */
  readonly at: string
  /** Who asked for it: a person, or the name of an alarm. */
  readonly by: string
  /** Release that was taken back last. */
  readonly taken_back?: string | undefined
}

const ReleaseSchema: z.ZodType<Release> = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  code: z.record(z.string().regex(/^\w+$/), z.string().regex(/^:\d+$/)),
})

const RoutingSchema: z.ZodType<Routing> = z.strictObject({
  percent: z.int().min(1).max(100),
  to: ReleaseSchema,
  from: ReleaseSchema.optional(),
  at: z.string(),
  by: z.string(),
  taken_back: z.string().optional(),
})

/** Where both lie: with the machines of the stage, since who starts runs may read and write there already. */
export const RELEASE_ITEMS = { partition: 'MACHINES', routing: 'RELEASE', used: 'USED#' } as const

export function readRouting(text: string): Routing {
  return RoutingSchema.parse(JSON.parse(text))
}

export function readRelease(text: string): Release {
  return ReleaseSchema.parse(JSON.parse(text))
}

/** What a machine calls in place of a function's ARN: the version that the run's input names, and as before where it names none. */
export function versionedFunction(arn: string, placeholder: string): string {
  return `{% '${arn}' & $states.context.Execution.Input.code.${placeholder} %}`
}

/** `share`: a number from 0 to below 1 that is the run's own, so that whoever starts it again draws the same. */
export function drawRelease({ percent, to, from }: Routing, share: number): Release {
  return from === undefined || share * 100 < percent ? to : from
}

export function isSameRelease(a: Release, b: Release | undefined): boolean {
  const entries = Object.entries(a.code)
  return (
    b !== undefined &&
    a.id === b.id &&
    entries.length === Object.keys(b.code).length &&
    entries.every(([name, version]) => b.code[name] === version)
  )
}

/** By whom and when, of a change. */
export type Asked = Pick<Routing, 'at' | 'by'>

/**
 * So many of a hundred new runs begin with this release. The other is the one that new runs began with before: a release that
 * was on its way there, and is not any more, is passed over.
 */
export function shiftRouting(before: Routing | undefined, to: Release, percent: number, asked: Asked): Routing {
  if (before === undefined) return { percent: 100, to, ...asked }
  const { taken_back } = before
  const from = isSameRelease(to, before.to) || before.percent < 100 ? before.from : before.to
  const other = isSameRelease(to, from) ? before.to : from
  return { percent: other === undefined ? 100 : percent, to, from: other, ...asked, taken_back }
}

/** New runs begin with what they began with before; undefined = there is no such release. */
export function takeBackRouting({ to, from }: Routing, asked: Asked): Routing | undefined {
  return from === undefined ? undefined : { percent: 100, to: from, ...asked, taken_back: to.id }
}

/** When runs began with a release last, ms since 1970. */
export interface UsedRelease {
  readonly release: Release
  readonly used_at: number
}

/** Longer than an execution may live, a year, and than a start may wait in the queue besides. */
const LIVING_MS = 400 * 86_400_000

/** A deployment that is under way publishes before anything names what it published. */
const PUBLISHING_MS = 86_400_000

/** A published version of a function that machines call. */
export interface PublishedVersion {
  readonly placeholder: string
  /** As in `Release.code`. */
  readonly version: string
  /** ms since 1970. */
  readonly made_at: number
}

/**
 * Versions that no run can call any more: no run began with them for longer than an execution lives, none can begin, and they
 * are not what is deployed.
 */
export function versionsToDelete<T extends PublishedVersion>(
  published: readonly T[],
  kept: { readonly routing: Routing | undefined; readonly deployed: Release; readonly used: readonly UsedRelease[] },
  now: number,
): readonly T[] {
  const living = kept.used.filter(({ used_at }) => used_at > now - LIVING_MS).map(({ release }) => release)
  const releases = [kept.deployed, kept.routing?.to, kept.routing?.from, ...living].filter((one) => one !== undefined)
  const needed = new Set(releases.flatMap(({ code }) => Object.entries(code).map(([name, of]) => `${name}${of}`)))
  return published.filter(
    ({ placeholder, version, made_at }) => made_at < now - PUBLISHING_MS && !needed.has(`${placeholder}${version}`),
  )
}
