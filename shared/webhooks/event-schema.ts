import * as z from 'zod'
import { RUN_ERASED } from '../runs/erasure.ts'
import { RunEventSchema } from '../runs/event.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * JSON Schema (draft 2020-12) of the message about an event, which is the body of a webhook and the `detail` on a bus: one a
 * type, made of the schemas that read the log. Members may come to it in later versions, in `data` too; none goes.
 */
export function messageSchema(): Schema {
  const { $schema, oneOf } = z.toJSONSchema(RunEventSchema, { unrepresentable: 'any' })
  const members = (oneOf ?? []).map(({ properties = {} }) => {
    const { id: _id, type, data, ...rest } = properties
    return { ...rest, type: opened(type), data: opened(data) }
  })
  return {
    $schema,
    title: 'Message about an event of a run (Sluice): body of a webhook, detail of an event on a bus',
    oneOf: [
      ...members.map(({ type, data, ...of }) => ({
        type: 'object',
        properties: { id: ID, type, ...COMMON, ...of, data, links: LINKS },
        required: ['id', 'type', 'at', 'tenant', 'run_id', 'dag_name', 'seq', 'data', 'links'],
      })),
      ERASED,
    ],
  }
}

const text = (description: string) => ({ type: 'string', description })

const ID = text('The same in every delivery: what a receiver deduplicates by. <run>-<seq>-<endpoint>')

const COMMON = { tenant: text('Whose run it is'), dag_name: text('Name of the document') }

const LINKS = {
  type: 'object',
  properties: { run: text('Path of the run in the API'), events: text('Path of its events from this one on') },
  required: ['run', 'events'],
}

/** A run was erased: of no event, and so of no seq. */
const ERASED: Schema = {
  type: 'object',
  properties: {
    id: text('The same in every delivery: <run>-erased-<endpoint>'),
    type: { type: 'string', const: RUN_ERASED },
    at: text('When it came to its end'),
    run_id: text('The run that was'),
    ...COMMON,
    data: {
      type: 'object',
      properties: {
        asked_at: text('When it was asked for'),
        children: { type: 'array', items: { type: 'string' }, description: 'The runs below it, which went with it' },
        proof: text('Hash of the record that is left'),
      },
      required: ['asked_at', 'children', 'proof'],
    },
    links: {
      type: 'object',
      properties: { run: LINKS.properties.run, erasure: text('Path of the record in the API') },
      required: ['run', 'erasure'],
    },
  },
  required: ['id', 'type', 'at', 'tenant', 'run_id', 'dag_name', 'data', 'links'],
}

/** Readers must take what a later version adds. */
function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(([key, value]) => key !== 'additionalProperties' || value !== false)
  return Object.fromEntries(kept.map(([key, value]) => [key, opened(value)]))
}
