import type { Dag } from '../dag/dag.ts'
import { LIMITS } from '../dag/limits.ts'

/** A limit a larger DAG of this kind would meet, and how far it is. */
export interface PlannedLimit {
  readonly name: 'definition_bytes' | 'history_events' | 'blocks' | 'foreach_items' | 'head_bytes'
  readonly used: number
  readonly limit: number
  /** `used` of `limit`, 1 = reached. */
  readonly share: number
}

interface Used {
  /** Of the largest machine, ARNs in it. */
  readonly bytes: number
  /** Budgeted, of the machine that has most. */
  readonly events: number
  /** Of the foreach block that has most in the predicted run; 0 without one. */
  readonly items: number
}

/** The limits and, of them, the nearest: it binds next. */
export function plannedLimits({ blocks }: Dag, { bytes, events, items }: Used) {
  const nearest = limit('definition_bytes', bytes, MOST_DEFINITION_BYTES)
  const limits: readonly PlannedLimit[] = [
    nearest,
    limit('history_events', events, MOST_HISTORY_EVENTS),
    limit('blocks', blocks.length, LIMITS.blocks),
    limit('foreach_items', items, LIMITS.foreach_items),
    limit('head_bytes', HEAD_BYTES_A_LANE * (blocks.length + items), MOST_HEAD_BYTES),
  ]
  const next_limit = limits.reduce((most, one) => (one.used / one.limit > most.used / most.limit ? one : most), nearest)
  return { next_limit, limits }
}

/** Quotas of Step Functions: a definition has at most 1 MB, an execution at most 25,000 events. */
const MOST_DEFINITION_BYTES = 1_048_576
const MOST_HISTORY_EVENTS = 25_000
/** Quota of DynamoDB, 400 KB an item, without room for a full tail of events and the members that do not grow. */
const MOST_HEAD_BYTES = 409_600 - 16_384
/** Estimated: 8 bytes a lane of a block, more for one of an item. */
const HEAD_BYTES_A_LANE = 12

function limit(name: PlannedLimit['name'], used: number, most: number): PlannedLimit {
  return { name, used, limit: most, share: Number((used / most).toFixed(4)) }
}
