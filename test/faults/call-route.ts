import { ROUTES } from '../../shared/routes.ts'
import { holdsToken } from './slack/check-slack.ts'
import { principalOf, type System } from './system.ts'

export interface Reply {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

export interface RouteCall {
  readonly tenant: string
  /** Who calls, if it matters. */
  readonly by?: string
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  /** Idempotency-Key. */
  readonly key?: string
  /** Reads the body of an answer that streams, while the function runs. */
  readonly read_body?: (answer: unknown) => Promise<void>
}

/**
 * Calls a route as API Gateway does. Undefined: no answer came (the function died). An answer 500 is a handler's error
 * that has none of the eight names (invariant 38).
 */
export async function callRoute(system: System, name: string, call: RouteCall): Promise<Reply | undefined> {
  const { functions, sim } = system
  const { tenant, by, params, key } = call
  const event = eventOf(name, call)
  const who = `${name}(${(params.run_id ?? key ?? tenant).slice(-6)})`
  const answer = await functions
    .invoke(name, event, { from: 'route', who, tenant, principal: principalOf(tenant, by) })
    .catch(() => undefined)
  if (answer === undefined) return undefined
  const { statusCode: status, body: text } = answer as { readonly statusCode: number; readonly body: unknown }
  if (status === 500) sim.violate(38, `${name} answers 500: ${String(text).slice(0, 300)}`)
  if (holdsToken(String(text), system.tokens)) sim.violate(28, `${name} answers a task token`)
  sim.trace(`${who} is answered ${status}${status >= 400 ? ` ${codeIn(text)}` : ''}`)
  return { status, json: typeof text === 'string' && text.startsWith('{') ? JSON.parse(text) : {} }
}

/** The event API Gateway makes of a request. */
function eventOf(name: string, { params, query, body, key, read_body }: RouteCall): object {
  const line = ROUTES.find((one) => one.name === name)
  return {
    httpMethod: line?.method ?? 'GET',
    resource: line?.path,
    path: line?.path ?? '/',
    pathParameters: Object.values(params).some((value) => value !== undefined)
      ? JSON.parse(JSON.stringify(params))
      : null,
    queryStringParameters: query ?? null,
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    ...(read_body === undefined ? {} : { read_body }),
  }
}

function codeIn(text: unknown): string {
  return /"code":"([^"]*)"/.exec(String(text))?.[1] ?? ''
}
