import { ROUTES } from '../../shared/routes.ts'
import { pickFrom, type Random } from './rng.ts'
import type { Profile } from './scenario.ts'

/** What people and operators do, each at its time; the dice decide the rest when it is done. */
export const ACT_KINDS = [
  'start',
  'start_again',
  'start_named',
  'decide',
  'click',
  'stop',
  'stop_block',
  'stop_all',
  'release',
  'patch',
  'read',
  'replay',
  'stream',
  'retry',
  'abort_execution',
  'deliver_again',
  'trespass',
  'look_at_once',
  'stop_at_once',
  'follow_end',
  'again_at_once',
  'know',
  'ask',
  'pivot',
  'enter_held',
  'enter_crowd',
  'replay_dead',
  'use_token',
  'pivot_at_once',
  'clear_machines',
  'send_event',
  'send_at_once',
  'answer_callback',
  'retry_turns',
  'pause',
] as const
export type ActKind = (typeof ACT_KINDS)[number]

export interface Act {
  /** Stays the same when others are taken out. */
  readonly id: number
  /** ms from the start. */
  readonly at: number
  readonly kind: ActKind
  /** Which of the runs. */
  readonly run: number
  readonly dice: readonly [number, number, number]
}

/** Weights of what happens beside the starts. */
type Weights = Readonly<Partial<Record<ActKind, number>>>

const READS: Weights = {
  start_named: 1,
  read: 10,
  replay: 3,
  stream: 2,
  decide: 10,
  click: 6,
  patch: 2,
  trespass: 1,
  use_token: 1,
}
const WEIGHTS: Readonly<Record<Profile, Weights>> = {
  calm: READS,
  storm: { ...READS, stop: 0.5, retry: 1, start_again: 2 },
  zombie: { ...READS, stop: 0.5, stop_block: 1, stop_all: 0.3, release: 1, deliver_again: 8, start_again: 1 },
  human: {
    ...READS,
    decide: 24,
    click: 20,
    stop: 1,
    stop_block: 2,
    patch: 6,
    retry: 4,
    start_again: 3,
    stop_all: 0.5,
    release: 2,
  },
  ops: { ...READS, stop: 1, stop_all: 1.5, release: 6, abort_execution: 2, retry: 3, deliver_again: 2 },
  swizzle: { ...READS, start_again: 2, retry: 1 },
}
const MOST_ACTS: Readonly<Record<Profile, number>> = {
  calm: 12,
  storm: 16,
  zombie: 16,
  human: 30,
  ops: 20,
  swizzle: 14,
}

interface Plan {
  readonly profile: Profile
  readonly runs: number
  readonly until: number
  /** Some runs wait for a place. */
  readonly queues: boolean
}

/** The starts first, soon and close together; then the others, at any time until all is calm. */
export function planActs(random: Random, plan: Plan): readonly Act[] {
  const { profile, runs, until } = plan
  const dice = () => [random(), random(), random()] as const
  const starts = Array.from({ length: runs }, (_, run): Act => {
    return { id: run, at: random() ** 2 * 30_000, kind: 'start', run, dice: dice() }
  })
  const kinds = drawable(WEIGHTS[profile])
  const others = Array.from({ length: Math.floor(random() * MOST_ACTS[profile]) }, (_, i): Act => {
    const kind = kindAt(kinds, random())
    // Most things happen in the first minutes: there the runs are.
    return { id: runs + i, at: random() ** 3 * until, kind, run: Math.floor(random() * runs), dice: dice() }
  })
  const releases = plan.queues ? planReleases(random, runs) : []
  const planned = [...starts, ...others, ...planAnswers(random, plan), ...planFollowers(random, runs), ...releases]
  const asked = [...planQuestions(random, plan), ...planReactions(random, plan)]
  return [...planned, ...asked, ...planPauses(random, runs)]
}

/** Somebody looks now and then whether a run asks something; in some seeds nobody does. */
function planAnswers(random: Random, { runs, until }: Plan): readonly Act[] {
  if (random() < 0.3) return []
  const pace = 2_000 + random() * 20_000
  const looks = Math.min(MOST_LOOKS, Math.floor(until / pace))
  return Array.from({ length: looks }, (_, i): Act => {
    const dice = [random(), random(), random()] as const
    const kind = random() < 0.3 ? 'click' : 'decide'
    return { id: FIRST_LOOK + i, at: (i + random()) * pace, kind, run: Math.floor(random() * runs), dice }
  })
}

const MOST_LOOKS = 30
const FIRST_LOOK = 1_000

/** In half of the seeds some follow the log while it is written, and some read all of it again and again. */
function planFollowers(random: Random, runs: number): readonly Act[] {
  const followers = random() < 0.5 ? 0 : 1 + Math.floor(random() * 12)
  return Array.from({ length: followers }, (_, i): Act => {
    const dice = [0, 0.5 + random() / 2, random()] as const
    const kind = i === 0 ? 'stream' : 'replay'
    return { id: FIRST_FOLLOWER + i, at: random() * 30_000, kind, run: Math.floor(random() * runs), dice }
  })
}

const FIRST_FOLLOWER = 2_000

/** Where runs wait for a place somebody tries now and then whether there is one. */
function planReleases(random: Random, runs: number): readonly Act[] {
  return Array.from({ length: 4 }, (_, i): Act => {
    const dice = [random(), random(), random()] as const
    return { id: FIRST_RELEASE + i, at: random() * 180_000, kind: 'release', run: Math.floor(random() * runs), dice }
  })
}

const FIRST_RELEASE = 3_000

/** In one seed of twelve the graph is filled and asked; drawn last, so that all else of a seed is what it was. */
function planQuestions(random: Random, { runs, until }: Plan): readonly Act[] {
  if (random() < 0.92) return []
  const kinds = ['know', 'know', 'ask', 'ask', 'ask'] as const
  // Questions at about the same time: they are in each other's way where the model is limited.
  const asked = random() ** 2 * until
  return kinds.map((kind, i): Act => {
    const dice = [random(), random(), random()] as const
    const at = kind === 'ask' ? asked + random() * 5_000 : random() ** 2 * until
    return { id: FIRST_QUESTION + i, at, kind, run: Math.floor(random() * runs), dice }
  })
}

const FIRST_QUESTION = 4_000

/**
 * What comes at the very moment something happened: between the record of a step and what its writer does next. Where runs
 * wait for a place, whoever follows the end of one comes between the place that is given back and who is to have it.
 */
function planReactions(random: Random, { profile, runs, queues }: Plan): readonly Act[] {
  const many = queues ? 4 : random() < 0.5 ? 3 : 2
  return Array.from({ length: many }, (_, i): Act => {
    const dice = [random(), random(), random()] as const
    const drawn = random()
    // The last one: a call of the machine that comes twice, where calls may.
    const isAgain = i === many - 1 && profile !== 'calm' && random() < 0.5
    const kind = isAgain
      ? 'again_at_once'
      : queues || drawn < 0.15
        ? 'follow_end'
        : drawn < 0.85
          ? 'look_at_once'
          : 'stop_at_once'
    return { id: FIRST_REACTION + i, at: 0, kind, run: Math.floor(random() * runs), dice }
  })
}

const FIRST_REACTION = 5_000

/** In one seed of four some runs are paused for a while; drawn last, so that all else of a seed is what it was. */
function planPauses(random: Random, runs: number): readonly Act[] {
  if (random() < 0.75) return []
  const many = 1 + Math.floor(random() * 3)
  return Array.from({ length: many }, (_, i): Act => {
    const dice = [random(), random(), random()] as const
    return { id: FIRST_PAUSE + i, at: 0, kind: 'pause', run: Math.floor(random() * runs), dice }
  })
}

const FIRST_PAUSE = 6_000

/** Acts whose route this version has. */
function drawable(weights: Weights): readonly (readonly [ActKind, number])[] {
  const routes = new Set(ROUTES.map(({ name }) => name))
  const needed: Readonly<Partial<Record<ActKind, string>>> = { retry: 'retry-run', release: 'release-starts' }
  return (Object.entries(weights) as (readonly [ActKind, number])[]).filter(([kind]) => {
    const route = needed[kind]
    return route === undefined || routes.has(route)
  })
}

function kindAt(kinds: readonly (readonly [ActKind, number])[], dice: number): ActKind {
  const total = kinds.reduce((sum, [, weight]) => sum + weight, 0)
  let left = dice * total
  for (const [kind, weight] of kinds) {
    left -= weight
    if (left < 0) return kind
  }
  return pickFrom(kinds, 0)?.[0] ?? 'read'
}
