import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'

/** The section `concurrency` of a document: what is taken, with its defaults, and what is said of what is not. */
function read(concurrency: string, inputs = '{ customer: { type: string }, region: { type: string } }') {
  const block = '{ id: a, agent: { provider: local, model: m, prompt: "Hi." } }'
  return parseDag(`name: orders\ninputs: ${inputs}\nconcurrency: ${concurrency}\nblocks: [${block}]\n`)
}

function problem(concurrency: string): string | undefined {
  const found = read(concurrency)
  return found.ok ? undefined : found.errors.map(({ code, message }) => `${code}: ${message}`).join('\n')
}

describe('concurrency', () => {
  test('is read with its defaults, and is part of what a run is pinned to', () => {
    const found = read('{ key: inputs.customer }')
    expect(found.ok && found.dag.concurrency).toEqual({ key: 'inputs.customer', limit: 1, on_conflict: 'queue' })
    const all = read('{ limit: 3, on_conflict: skip }')
    expect(all.ok && all.dag.concurrency).toEqual({ limit: 3, on_conflict: 'skip' })
  })

  test.each([
    'inputs.customer & "/" & inputs.region',
    '$lowercase(inputs.customer)',
    '$$.inputs.customer',
    'inputs.(customer & region)',
    'inputs.region = "eu" ? inputs.customer : "rest"',
  ])('a key may be %s', (key) => {
    expect(problem(`{ key: ${JSON.stringify(key)} }`)).toBeUndefined()
  })

  test.each([
    ['customer', 'concurrency_key', 'reads "customer"; a key reads run inputs alone. Write inputs.customer.'],
    ['inputs.custmer', 'concurrency_key', 'reads "inputs.custmer"; the document declares'],
    ['inputs.custmer', 'concurrency_key', 'Did you mean "customer"?'],
    ['"all"', 'concurrency_key', 'reads no run input, so it is the same for every run. Leave key out'],
    ['inputs.', 'malformed_expression', 'is not JSONata'],
  ])('a key %s is refused as %s: %s', (key, code, words) => {
    const told = problem(`{ key: ${JSON.stringify(key)} }`)
    expect(told).toContain(`${code}: `)
    expect(told).toContain(words)
  })

  test.each([
    ['{ limit: 0 }', 'limit'],
    ['{ limit: 101 }', 'limit'],
    ['{ on_conflict: wait }', 'on_conflict'],
    ['{ keys: inputs.customer }', 'keys'],
  ])('%s is refused, by its place', (given, place) => {
    expect(problem(given)).toContain(place)
  })
})
