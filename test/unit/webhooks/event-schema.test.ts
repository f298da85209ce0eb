import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../shared/runs/event.ts'
import { messageSchema } from '../../../shared/webhooks/event-schema.ts'
import { webhookMessage } from '../../../shared/webhooks/message.ts'
import { decided, ended, logOf, output, requested, runEnded, runStarted, started } from '../runs/event-log.ts'

const meta = { tenant: 'main', run_id: `run_${'0'.repeat(26)}`, dag_name: 'brief' }
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(messageSchema())

test('is what docs/events.schema.json holds (vitest -u writes it anew)', async () => {
  const text = `${JSON.stringify(messageSchema(), null, 2)}\n`
  await expect(text).toMatchFileSnapshot('../../../docs/events.schema.json')
})

test('has one for every type of event', () => {
  const { oneOf } = messageSchema() as { readonly oneOf: readonly { properties: { type: { const: string } } }[] }
  // What tells of an erasure is no event of its run: that is gone.
  expect(oneOf.map(({ properties }) => properties.type.const)).toEqual([...EVENT_TYPES, 'run:erased'])
})

test('fits the messages about a run and an approval, also with members of a later version, and no other', () => {
  const log = logOf([
    runStarted,
    requested('a'),
    decided('a', 'approve'),
    started('a', 1),
    output('a', 1),
    ended('a', 1, 'completed'),
    runEnded('completed'),
  ])
  const messages = log.map((event) => JSON.parse(webhookMessage(meta, event, { name: 'company' }).text))
  expect(messages.filter((message) => !validate(message))).toEqual([])
  const [first] = messages
  expect(validate({ ...first, later: 1, data: { ...first.data, later: 1 } })).toBe(true)
  expect(validate({ ...first, type: 'run:done' })).toBe(false)
  expect(validate({ ...first, data: {} })).toBe(false)
})
