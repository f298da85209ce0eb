import { Fault } from '../../../shared/errors.ts'
import type { HandlerCall } from './handler.ts'

/** Fault InvalidInput of one handler: the block it happened in, what was seen and allowed, what to do. */
export function refuse(call: HandlerCall, handler: string, code: string, what: string, cause?: unknown): Fault {
  const message = `Cannot run block "${call.block_id}" (${handler}): ${what}`
  return new Fault('InvalidInput', code, message, cause === undefined ? {} : { cause })
}
