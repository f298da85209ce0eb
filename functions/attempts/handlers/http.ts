import {
  type ServiceRequestConfig,
  type WrittenRequest,
  writeServiceRequest,
} from '../../../shared/dag/service-request.ts'
import { Fault } from '../../../shared/errors.ts'
import type { LimitedAnswer } from '../../../shared/gates/gate-ports.ts'
import { MOST_ANSWER_BYTES } from '../../../shared/limits.ts'
import type { ServiceKey } from '../../../shared/services/service-keys.ts'
import { findService, headerNameProblem, type ServiceSettings } from '../../../shared/services/settings.ts'
import type { Json } from '../../../shared/text/json.ts'
import { inexactNumbers, inexactNumberWords, jsonTextProblem } from '../../../shared/text/strict-json.ts'
import { didYouMean, listed, suggest } from '../../../shared/text/wording.ts'
import { readReason, retryAfterMs } from '../../providers/faults.ts'
import { type BlockHandler, type HandlerCall, handlerFault, isolateOf, readConfig } from './block-handler.ts'

/**
 * Asks a service that the operator named, through the Http port (docs/dag.md, "http"). Outputs `status`, `headers` and one
 * for the body. Fault Unavailable (service_unavailable, service_timeout, service_throttled) may pass, and is tried again;
 * Rejected service_refused and InvalidInput (service_invalid, service_not_allowed, service_key_missing, unknown_service,
 * bad_service_request, missing_input) may not. The key of the service is in no fault and no output.
 */
export const http: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    const config = readConfig('http', call)
    const service = serviceOf(call, config)
    const request = write(call, config, service, await bodyOf(call, config))
    const key = await call.world.services.key(config.service)
    const headers = headersOf(call, config, request, key)
    const answer = await call.world.http.request({
      method: config.method,
      url: request.url,
      timeout_ms: service.timeout_ms,
      ...(request.body === undefined ? {} : { body: request.body }),
      service: { name: config.service, headers },
    })
    call.signal.throwIfAborted()
    return portsOf(call, config, answered(call, config, answer, key), key)
  },
}

function serviceOf(call: HandlerCall, { service: name }: ServiceRequestConfig): ServiceSettings {
  const { services } = call.world.settings
  const service = findService(services, name)
  if (service !== undefined) return service
  const known = Object.keys(services)
  const near = didYouMean(suggest(name, known)) ?? 'Add it under services in sluice.yaml.'
  const what = `service "${name}" is not configured; configured are ${listed(known)}. ${near}`
  throw handlerFault(call, 'http', 'unknown_service', what)
}

async function bodyOf(call: HandlerCall, { body_expression }: ServiceRequestConfig): Promise<Json | undefined> {
  if (body_expression === undefined) return undefined
  const input = { inputs: call.values }
  const answer = await isolateOf(call).run('transform', { program: body_expression, input })
  call.signal.throwIfAborted()
  if (answer.ok) return answer.value
  const what = `its body_expression stopped (${answer.because}): ${answer.message}. Mend it (JSONata 2.0 over {inputs}).`
  throw handlerFault(call, 'http', 'bad_service_request', what)
}

function write(
  call: HandlerCall,
  config: ServiceRequestConfig,
  service: ServiceSettings,
  body: Json | undefined,
): WrittenRequest {
  try {
    return writeServiceRequest(config, service, call.values, body)
  } catch (error) {
    if (error instanceof Fault) throw handlerFault(call, 'http', error.code, error.message)
    throw error
  }
}

/** A document may give the key by which a service knows a request again; without one it is the attempt's. */
function headersOf(
  call: HandlerCall,
  { method, service }: ServiceRequestConfig,
  { headers }: WrittenRequest,
  key: ServiceKey | undefined,
): Readonly<Record<string, string>> {
  const taken = Object.keys(headers).find((name) => headerNameProblem(name, key === undefined ? [] : [key.header]))
  if (taken !== undefined) {
    const what = `its header "${taken}" holds the key of service "${service}". Remove it from the document.`
    throw handlerFault(call, 'http', 'bad_service_request', what)
  }
  return {
    ...(method === 'GET' ? {} : { 'idempotency-key': call.idempotency_key }),
    ...headers,
    ...(key === undefined ? {} : { [key.header]: key.value }),
  }
}

type Answered = Extract<LimitedAnswer, { kind: 'answered' }>

/** The answer of a request that succeeded. */
function answered(
  call: HandlerCall,
  config: ServiceRequestConfig,
  answer: LimitedAnswer,
  key: ServiceKey | undefined,
): Answered {
  const { service, accept = [] } = config
  if (answer.kind === 'refused') {
    const what = `service "${service}" may not be asked: ${answer.reason}. Check its url under services in sluice.yaml, and http_gates.deny_hosts.`
    throw handlerFault(call, 'http', 'service_not_allowed', what)
  }
  if (answer.kind === 'failed')
    throw failed(call, { fault: 'Unavailable', code: 'service_unavailable', what: answer.reason, service })
  const { status, body_cut } = answer
  if (!(status >= 200 && status <= 299) && !accept.includes(status)) throw statusFault(call, service, answer, key)
  if (body_cut === true) {
    const what = `service "${service}" answered more than ${MOST_ANSWER_BYTES} bytes, which is all that is read. Ask for less of it: a page, or fewer fields.`
    throw handlerFault(call, 'http', 'service_invalid', what)
  }
  return answer
}

interface Failed {
  readonly fault: 'Unavailable' | 'Rejected' | 'InvalidInput'
  readonly code: string
  readonly what: string
  readonly service: string
  readonly retry_after_ms?: number | undefined
}

function failed(call: HandlerCall, { fault, code, what, service, retry_after_ms }: Failed): Fault {
  const message = `Cannot run block "${call.block_id}" (http): service "${service}": ${what}`
  const wait = retry_after_ms === undefined ? {} : { retry_after_ms }
  return new Fault(fault, code, message, { facts: { service, ...wait } })
}

function statusFault(
  call: HandlerCall,
  service: string,
  { status, headers = {}, body }: Answered,
  key: ServiceKey | undefined,
): Fault {
  const [fault, code, advice] = kindOf(status)
  // What is said of a key may quote it in any form.
  const told = [401, 403, 407].includes(status) ? undefined : readReason(withoutKey(body, key))
  const words = told === undefined ? '' : `: ${JSON.stringify(withoutKey(told, key))}`
  const retry_after_ms =
    fault === 'Unavailable' ? retryAfterMs(new Headers(headers), call.world.clock.now()) : undefined
  return failed(call, { fault, code, what: `it answered ${status}${words}. ${advice}`, service, retry_after_ms })
}

type Kind = readonly [fault: Failed['fault'], code: string, advice: string]

const AGAIN = "It is tried again as the block's retry allows."
/** As of providers (functions/providers/faults.ts), under codes of their own: each stands as it is told. */
const STATUSES: Readonly<Record<number, Kind>> = {
  401: ['Rejected', 'service_refused', 'Its key is missing or wrong: check services in sluice.yaml.'],
  403: ['Rejected', 'service_refused', 'Its key may not do this.'],
  408: ['Unavailable', 'service_timeout', AGAIN],
  425: ['Unavailable', 'service_unavailable', AGAIN],
  429: ['Unavailable', 'service_throttled', AGAIN],
  504: ['Unavailable', 'service_timeout', AGAIN],
}

function kindOf(status: number): Kind {
  const known = STATUSES[status]
  if (known !== undefined) return known
  if (status >= 500) return ['Unavailable', 'service_unavailable', AGAIN]
  const accept = `Where ${status} is an answer and no failure, say accept: [${status}].`
  if (status >= 400) return ['Rejected', 'service_refused', `The same request would be refused again. ${accept}`]
  return [
    'InvalidInput',
    'service_invalid',
    `Only 2xx is a success, and a redirect that changes something, or leads out of its url, is not followed. ${accept}`,
  ]
}

/** What the block's ports get: by name, and the one of any other name gets the body. */
function portsOf(
  call: HandlerCall,
  config: ServiceRequestConfig,
  { status, headers = {}, body }: Answered,
  key: ServiceKey | undefined,
): Record<string, Json> {
  const made: Record<string, Json> = {}
  for (const [port, { type }] of Object.entries(call.outputs)) {
    if (port === 'status') made[port] = status
    else if (port === 'headers') made[port] = hideKey(headers, key)
    else if (type === 'json' && isJson(headers)) made[port] = hideKey(jsonOf(call, config, body), key)
    else if (body !== '' || type === 'string') made[port] = hideKey(body, key)
  }
  return made
}

function isJson({ 'content-type': type = '' }: Readonly<Record<string, string>>): boolean {
  return /^\s*(application|text)\/([\w.-]+\+)?json\s*(;|$)/i.test(type)
}

function jsonOf(call: HandlerCall, { service }: ServiceRequestConfig, body: string): Json {
  if (body.trim() === '') return null
  const [changed] = jsonTextProblem(body) === undefined ? inexactNumbers(body) : []
  const problem = jsonTextProblem(body)?.text ?? (changed === undefined ? undefined : inexactNumberWords(changed))
  const advice = 'Make the output a string to get it as it is.'
  if (problem !== undefined) {
    throw handlerFault(
      call,
      'http',
      'service_invalid',
      `service "${service}" answered JSON that is not taken: ${problem}. ${advice}`,
    )
  }
  try {
    return JSON.parse(body)
  } catch {
    throw handlerFault(
      call,
      'http',
      'service_invalid',
      `service "${service}" says that it answers JSON, and its body is none. ${advice}`,
    )
  }
}

/** Shorter ones are part of any text. */
const SHORTEST_KEY = 6
const HIDDEN = '[redacted]'

/** A service may tell a caller all that it was sent. */
function withoutKey(text: string, key: ServiceKey | undefined): string {
  return key === undefined || key.secret.length < SHORTEST_KEY ? text : text.replaceAll(key.secret, HIDDEN)
}

function hideKey(value: Json, key: ServiceKey | undefined): Json {
  if (typeof value === 'string') return withoutKey(value, key)
  if (Array.isArray(value)) return value.map((item) => hideKey(item, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [withoutKey(name, key), hideKey(item, key)]))
}
