import * as z from 'zod'
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
    oneOf: members.map(({ type, data, ...of }) => ({
      type: 'object',
      properties: { id: ID, type, ...COMMON, ...of, data, links: LINKS },
      required: ['id', 'type', 'at', 'tenant', 'run_id', 'dag_name', 'seq', 'data', 'links'],
    })),
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

/** Readers must take what a later version adds. */
function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(([key, value]) => key !== 'additionalProperties' || value !== false)
  return Object.fromEntries(kept.map(([key, value]) => [key, opened(value)]))
}
