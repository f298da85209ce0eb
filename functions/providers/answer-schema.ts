import type { Json } from '../../shared/canonical.ts'
import type { PortType } from '../../shared/dag/dag.ts'
import type { DispatchRequest } from '../../shared/provider.ts'

type Ports = DispatchRequest['output_schema']

/** Whether the answer must be a JSON object: for anything but a single text (shared/provider.ts). */
export function asksForObject(ports: Ports): boolean {
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
