import { hasBit } from './bit-rows.ts'
import { isSplitter } from './core.ts'
import { JOIN_COST, PARALLEL_COST, SIGNAL_COST } from './costs.ts'
import { type Forest, lanesIn } from './forest.ts'

export interface Search {
  readonly forest: Forest
  /** The root each piece is below. */
  readonly trees: number[]
  /** Steps left. */
  effort: number
}

/** A piece that may stand behind the branches of another one, instead of waiting for them in a join. */
export interface Closing {
  readonly host: number
  readonly piece: number
  readonly gain: number
  /** Roots that become branches of the host. */
  readonly hosted: ReadonlySet<number>
  /** Branches that do not come before the piece: they become roots. */
  readonly expelled: readonly number[]
}

/**
 * What it saves to let `piece` close the branches of `host`. All that branches there must come before the piece: what
 * does not is expelled, and needs a join if it had none. Undefined when it cannot be, or gains no more than `least`.
 */
export function weighClosing(search: Search, host: number, piece: number, least: number): Closing | undefined {
  if (!fitsInside(search, host, piece)) return undefined
  const hosted = rootsToHost(search, host, piece)
  if (hosted === undefined) return undefined
  const expelled: number[] = []
  let gain = JOIN_COST + SIGNAL_COST * (search.forest.core.before[piece]?.length ?? 0)
  const open = [host, ...hosted]
  for (let v = open.pop(); v !== undefined; v = open.pop()) {
    const part = weighPart(search, v, piece, v === host ? hosted.size : 0)
    gain -= part.cost
    if (gain <= least || (v === host && part.lanes < 2)) return undefined
    open.push(...part.inside)
    expelled.push(...part.outside)
  }
  return { host, piece, gain, hosted, expelled }
}

/**
 * Where the host is itself in a Parallel that closes, the piece and what follows it must come
 * before that closing. And whatever is still a
 * root needs room beside the lane of the splitters: between two of them it is closed by the second one only.
 */
function fitsInside(search: Search, host: number, piece: number): boolean {
  const { core, closing } = search.forest
  const sections = (core.sections[piece] ?? 0) - (core.sections[host] ?? 0)
  const fits = isSplitter(core, piece) ? sections === 1 : sections === 0 && !isSplitter(core, host)
  if (!fits || closing[host] !== -1) return false
  const around = closingAround(search, host)
  return around === undefined || isWhollyBefore(search, piece, around)
}

function closingAround(search: Search, host: number): number | undefined {
  const { parent, closing } = search.forest
  for (let v = host; (parent[v] ?? -1) >= 0; v = parent[v] ?? -1) {
    search.effort--
    const next = closing[parent[v] ?? -1] ?? -1
    if (next >= 0 && next !== v) return next
  }
  return undefined
}

function isWhollyBefore(search: Search, root: number, around: number): boolean {
  const { core, branches, closing } = search.forest
  const open = [root]
  for (let v = open.pop(); v !== undefined; v = open.pop()) {
    if (v < 0) continue
    if (!hasBit(core.ancestors, around, v)) return false
    search.effort--
    open.push(closing[v] ?? -1, ...(branches[v] ?? []))
  }
  return true
}

/** The roots over those predecessors that are not below the host already. */
function rootsToHost(search: Search, host: number, piece: number): ReadonlySet<number> | undefined {
  const { core } = search.forest
  const roots = new Set<number>()
  for (const p of core.before[piece] ?? []) {
    const root = search.trees[p] ?? p
    const below = root === search.trees[host] ? isBelow(search, host, p) : hasBit(core.ancestors, root, host)
    if (!below) return undefined
    if (root !== search.trees[host]) roots.add(root)
  }
  return roots
}

function isBelow(search: Search, host: number, p: number): boolean {
  const { parent } = search.forest
  let v = p
  // A parent has a lower number.
  for (; v > host; v = parent[v] ?? -1) search.effort--
  return v === host
}

interface Part {
  readonly cost: number
  /** How many branches stay, counting those that come. */
  readonly lanes: number
  /** What stays, the closing too. */
  readonly inside: readonly number[]
  readonly outside: readonly number[]
}

function weighPart(search: Search, v: number, piece: number, coming: number): Part {
  const { forest } = search
  const { core, branches, closing } = forest
  const held = [...(branches[v] ?? [])]
  const inside = held.filter((k) => hasBit(core.ancestors, piece, k))
  const outside = held.length === inside.length ? [] : held.filter((k) => !hasBit(core.ancestors, piece, k))
  const lanes = coming + countLanes(forest, inside)
  const had = countLanes(forest, held)
  search.effort -= held.length + 1
  const forks = PARALLEL_COST * ((lanes > 1 ? 1 : 0) - (had > 1 ? 1 : 0))
  const cost = outside.reduce((sum, k) => sum + costOutside(forest, k), forks)
  const next = closing[v] ?? -1
  if (next < 0) return { cost, lanes, inside, outside }
  // A closing that would have to go is not worth it.
  if (!hasBit(core.ancestors, piece, next)) return { cost: Infinity, lanes, inside, outside }
  return { cost, lanes, inside: [...inside, next], outside }
}

function countLanes(forest: Forest, pieces: readonly number[]): number {
  return pieces.reduce((sum, k) => sum + lanesIn(forest, k), 0)
}

/** What had no join needs one now, and a Parallel behind a join is one of its own. */
function costOutside(forest: Forest, v: number): number {
  if (forest.core.before[v]?.length !== 1) return 0
  return JOIN_COST + SIGNAL_COST + PARALLEL_COST * (lanesIn(forest, v) - 1)
}
