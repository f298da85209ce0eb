import * as z from 'zod'
import type { Json } from '../text/json.ts'
import { StepOrderSchema, StepPlaceSchema } from './step-order.ts'

const json = z.custom<Json>((value) => value !== undefined)

/** What an attempt whose work AWS does was begun with, kept as an object: whoever records its end reads it by its ref. */
export const CallOrderSchema = z.strictObject({
  v: z.literal(1),
  place: StepPlaceSchema,
  /** Milliseconds since 1970 at which it was handed to the machine. */
  opened_at: z.number(),
  /** What its gates see. */
  values: z.record(z.string(), json),
  /** As a step is ordered: what a stand-in works with, and of what a kind it is. */
  step: StepOrderSchema,
})
export type CallOrder = z.infer<typeof CallOrderSchema>

/** What the state of a call answers `_close_<id>`. Empty: there was nothing to call. */
export const CallDoneSchema = z.strictObject({
  order: z.string().optional(),
  /** Of one that ended well. */
  result: json.optional(),
  /** Of one that did not: as Step Functions caught it. */
  error: z.string().optional(),
  cause: z.string().optional(),
})
export type CallDone = z.infer<typeof CallDoneSchema>

/** Error of a state whose stand-in was not heard of to its end: the local place was ended under it. */
export const STAND_IN_LOST = 'Sluice.StandInLost'

/** What a stand-in answers its state: where its outcome lies. */
export const StandInAnswerSchema = z.strictObject({ outcome: z.string() })
