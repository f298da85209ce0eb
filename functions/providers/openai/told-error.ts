import { memberOf } from '../member-of.ts'
import { reasonIn } from '../reason-in.ts'
import { failureOf } from '../status-fault.ts'

/** Gateways tell some failures inside an answer that began as a success: `{error: {code: 429, message}}`. */
export function throwTold(remote: { readonly name: string }, value: unknown): void {
  const error = memberOf(value, 'error')
  if (error === undefined || error === null) return
  const number = Number(memberOf(error, 'code') ?? memberOf(error, 'status'))
  // One that has no number is taken for a server that broke off.
  const status = Number.isInteger(number) && number >= 400 && number <= 599 ? number : 502
  throw failureOf(remote, { status, told: reasonIn(JSON.stringify({ error })) })
}
