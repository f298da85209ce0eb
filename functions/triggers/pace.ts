import { durationWords } from '../../shared/text/duration.ts'
import { type Debounce, type Rate, TRIGGER_LIMITS, type Trigger } from '../../shared/triggers/trigger.ts'
import type { Firing, TriggerState } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'
import { changeState } from './trigger-state.ts'

type PaceWorld = Pick<World, 'triggers' | 'clock'>

/** What becomes of a firing by the pace of its trigger; `mine`: it may start. */
export type Paced =
  | { readonly is: 'mine' | 'waits' | 'later' }
  | { readonly is: 'skip'; readonly reason: NonNullable<Firing['reason']> }

/** First it is joined with those around it, then the one that stands for them is counted. Who fires by hand is neither. */
export async function pace(world: PaceWorld, firing: Firing, trigger: Trigger): Promise<Paced> {
  const { debounce, rate } = trigger
  const joined = debounce === undefined ? THROUGH : await join(world, firing, trigger, debounce)
  if (joined.is !== 'mine' || rate === undefined) return joined
  return count(world, firing, trigger, rate)
}

const THROUGH: Paced = { is: 'mine' }
/** As many owed firings of the place as one look knows. */
const MOST_OWED = 10_000

/**
 * Firings that were kept shortly one after the other are a group, and its last stands for all. Which group is closed next is
 * one compare-and-set on the state, over what was owed after that state was read: whoever dies, or is slower, goes on with
 * what the state says, so each firing is either the one that starts or joined with it.
 */
async function join(world: PaceWorld, firing: Firing, trigger: Trigger, debounce: Debounce): Promise<Paced> {
  for (;;) {
    const state = await world.triggers.state(firing)
    const known = await byState(world, firing, state?.joined)
    if (known !== undefined) return known
    const group = firstGroup(await owedWith(world, firing, state?.joined), debounce)
    const joined = standsFor(group)
    if (joined === undefined) return LATER
    if (world.clock.now() < closesAt(group, debounce)) return { is: 'waits' }
    await changeState(world, firing, trigger, (stored) =>
      stored.version === (state?.version ?? 0) ? { ...stored, joined } : undefined,
    )
  }
}

type Joined = NonNullable<TriggerState['joined']>

/** Undefined: the group that was closed last is over, and the firing is in none yet. */
async function byState(world: PaceWorld, firing: Firing, last: Joined | undefined): Promise<Paced | undefined> {
  if (last === undefined) return undefined
  if (last.id === firing.id) return THROUGH
  if (isWithin(firing, last)) return { is: 'skip', reason: joinedWith(last) }
  return (await world.triggers.firing(firing, last.id))?.state === 'owed' ? LATER : undefined
}

function standsFor(group: readonly Firing[]): Joined | undefined {
  const [first, last] = [group[0], group.at(-1)]
  if (first === undefined || last === undefined) return undefined
  return { id: last.id, run_id: last.run_id, from: first.kept_at, until: last.kept_at }
}

/** Looked at again: others of its trigger may be through. */
const LATER: Paced = { is: 'later' }

/** Kept before the one that stands for it: a clock that is set back makes no firing an old one's. */
function isWithin({ kept_at }: Firing, { from, until }: Joined): boolean {
  return kept_at >= from && kept_at <= until
}

function joinedWith({ id, run_id }: Joined): NonNullable<Firing['reason']> {
  return { code: 'trigger_joined', message: `Firing ${id} stands for it: its run is ${run_id} (debounce).` }
}

async function owedWith(world: PaceWorld, of: Firing, last: Joined | undefined): Promise<readonly Firing[]> {
  const owed = await world.triggers.owed(of.tenant, MOST_OWED)
  const mine = owed.filter(
    ({ document, trigger, by }) => by === undefined && document === of.document && trigger === of.trigger,
  )
  const open = last === undefined ? mine : mine.filter((one) => !isWithin(one, last))
  return open.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

function orderOf({ kept_at, id }: Firing): string {
  return `${kept_at}/${id}`
}

/** From the first on, each that came before the group would have closed. */
function firstGroup(firings: readonly Firing[], debounce: Debounce): readonly Firing[] {
  const group: Firing[] = []
  for (const firing of firings) {
    const isOpen = group.length === 0 || Date.parse(firing.kept_at) < closesAt(group, debounce)
    // Those of one time are one group: it is by times that it is told what is in one.
    if (!isOpen && firing.kept_at !== group.at(-1)?.kept_at) return group
    group.push(firing)
  }
  return group
}

/** When nothing came for long enough, or the first has waited long enough, or they are many. */
function closesAt(group: readonly Firing[], { for_sec, at_most_sec }: Debounce): number {
  const [first, last] = [timeOf(group[0]), timeOf(group.at(-1))]
  if (group.length >= TRIGGER_LIMITS.joined) return last
  return Math.min(last + for_sec * 1_000, first + at_most_sec * 1_000)
}

function timeOf(firing: Firing | undefined): number {
  return firing === undefined ? 0 : Date.parse(firing.kept_at)
}

/**
 * By the times they were kept, so that however late, and however often, a firing is looked at it comes to the same: in no
 * stretch of that length are more let through.
 */
async function count(world: PaceWorld, firing: Firing, trigger: Trigger, rate: Rate): Promise<Paced> {
  const { run_id, kept_at } = firing
  let paced = THROUGH
  await changeState(world, firing, trigger, (stored) => {
    const counted = stored.counted ?? []
    paced = THROUGH
    if (counted.some((one) => one.run_id === run_id)) return undefined
    const near = counted.filter(({ at }) => Math.abs(Date.parse(at) - Date.parse(kept_at)) < rate.per_sec * 1_000)
    if (near.length < rate.limit)
      return { ...stored, counted: [...counted, { run_id, at: kept_at }].slice(-2 * rate.limit) }
    paced = { is: 'skip', reason: over(rate) }
    return undefined
  })
  return paced
}

function over({ limit, per_sec }: Rate): NonNullable<Firing['reason']> {
  const message = `${limit} ${limit === 1 ? 'firing' : 'firings'} within ${durationWords(per_sec)} of it had started before (rate).`
  return { code: 'trigger_rate', message }
}
