import type { PortType } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { Price } from '../../shared/providers/model-prices.ts'
import type { DispatchAnswer, DispatchRequest } from '../../shared/providers/provider.ts'
import type { Json } from '../../shared/text/json.ts'
import { jsonTextProblem } from '../../shared/text/strict-json.ts'

/** An answer, or a request, that the adapter cannot work with; the same would come again. */
export function invalidAnswerFault(provider: string, message: string): Fault {
  return new Fault('InvalidInput', 'provider_invalid', message, { facts: { provider } })
}

/** A text that must be a JSON object. */
export function parseJsonObject(provider: string, text: string): Readonly<Record<string, unknown>> {
  const problem = jsonTextProblem(text)
  if (problem !== undefined) {
    throw invalidAnswerFault(
      provider,
      `Cannot use the answer of provider "${provider}": it is not read, since ${problem.text}.`,
    )
  }
  const value = parsed(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  const seen = text.trim() === '' ? 'nothing' : JSON.stringify(text.slice(0, 80).toWellFormed())
  throw invalidAnswerFault(
    provider,
    `Cannot use the answer of provider "${provider}": it is ${seen}, no JSON object. Is its url the one of the API?`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An own member of whatever a server sent; undefined where there is none. */
export function memberOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // Checked above: an object with this own key.
  return (value as Readonly<Record<string | number, unknown>>)[key]
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Counts as a server sent them: any value, or none. */
export interface Usage {
  readonly tokens_in?: unknown
  readonly tokens_out?: unknown
}

/**
 * What a call used and cost. Tokens the server did not count are estimated at four characters each, and `note` says so;
 * a price is only given for counted tokens of a model whose price is known.
 */
export function measureUsage(
  request: Pick<DispatchRequest, 'system' | 'prompt'>,
  text: string,
  usage: Usage,
  rate: Price | undefined,
): Pick<DispatchAnswer, 'tokens_in' | 'tokens_out' | 'usd' | 'note'> {
  const counted = { in: count(usage.tokens_in), out: count(usage.tokens_out) }
  const tokens_in = counted.in ?? estimate((request.system ?? '') + request.prompt)
  const tokens_out = counted.out ?? estimate(text)
  if (counted.in === undefined || counted.out === undefined) {
    return {
      tokens_in,
      tokens_out,
      ...free(rate),
      note: 'tokens are estimated, four characters each: the server sent no count',
    }
  }
  if (rate === undefined) return { tokens_in, tokens_out }
  const usd = (tokens_in * rate.usd_per_million_in + tokens_out * rate.usd_per_million_out) / 1_000_000
  return { tokens_in, tokens_out, usd }
}

/** Nothing times an estimate is still nothing. */
function free(rate: Price | undefined): { readonly usd?: number } {
  return rate?.usd_per_million_in === 0 && rate.usd_per_million_out === 0 ? { usd: 0 } : {}
}

function estimate(text: string): number {
  return Math.ceil(text.length / 4)
}

function count(given: unknown): number | undefined {
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0 ? given : undefined
}

type Ports = DispatchRequest['output_schema']

/** Whether the answer must be a JSON object: for anything but a single text (shared/providers/provider.ts). */
export function needsJsonObject(ports: Ports): boolean {
  const all = Object.values(ports)
  const [only] = all
  return all.length > 1 || (only !== undefined && JSON_TYPES[only.type] !== 'string')
}

/**
 * The ports as a JSON Schema. All members are required, optional ones may be null (null is `absent` to the output
 * contract): that is the form OpenAI's strict mode takes, and others do not mind. `strict` is false with a port of type
 * json, for whose values no type can be said.
 */
export function answerSchema(ports: Ports): {
  readonly schema: Readonly<Record<string, Json>>
  readonly strict: boolean
} {
  const properties = Object.fromEntries(
    Object.entries(ports).map(([name, { type, required, description }]) => {
      const json = JSON_TYPES[type]
      const typed = json === undefined ? {} : { type: required ? json : [json, 'null'] }
      return [name, { ...typed, ...(description === undefined ? {} : { description }) }]
    }),
  )
  const schema = { type: 'object', properties, required: Object.keys(ports), additionalProperties: false }
  return { schema, strict: Object.values(ports).every(({ type }) => JSON_TYPES[type] !== undefined) }
}

/** Of a file or artifact the model writes the text; the ref is made when it is stored. */
const JSON_TYPES: Readonly<Record<PortType, string | undefined>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  file: 'string',
  artifact: 'string',
  json: undefined,
}
