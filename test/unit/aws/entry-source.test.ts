import { expect, test } from 'vitest'
import { entrySource } from '../../../infra/aws/entry-source.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'

const opens = (name: string, webhooks: boolean) => {
  const line = FUNCTIONS.find((one) => one.name === name)
  return line !== undefined && entrySource(line, ROUTES, { webhooks }).includes('outbox: openOutbox')
}

test.each(['close-module', 'decide-completion', 'nl-classify', 'synthesize-answer', 'patch-context'])(
  '%s nudges for webhooks, and carries nothing for it where there are none',
  (name) => {
    expect([opens(name, true), opens(name, false)]).toEqual([true, false])
  },
)

test('who owes more than webhooks always carries the way to tell', () => {
  expect([opens('settle', true), opens('settle', false)]).toEqual([true, true])
})
