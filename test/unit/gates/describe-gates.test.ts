import { expect, test } from 'vitest'
import { describeGates } from '../../../shared/gates/explain.ts'
import { gateTypes } from '../../../shared/gates/registry.ts'
import { schemaCompileProblem } from '../../../shared/gates/schema-validation.ts'

test('describeGates() has every type with a summary and a JSON Schema of its parameters', () => {
  const gates = describeGates()
  expect(gates.map(({ type }) => type)).toEqual(gateTypes())
  for (const { params } of gates) {
    expect(params).toMatchObject({ type: 'object', additionalProperties: false })
    expect(schemaCompileProblem(JSON.parse(JSON.stringify(params)))).toBeUndefined()
  }
})

test('describeGates() shows parameters as a document writes them: defaults are not required', () => {
  const contains = describeGates().find(({ type }) => type === 'contains')
  expect(contains?.params).toMatchObject({
    required: ['port', 'values'],
    properties: { case_sensitive: { type: 'boolean', default: false }, values: { minItems: 1 } },
  })
})
