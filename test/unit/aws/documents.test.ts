import { describe, expect, test } from 'vitest'
import { openDocuments, openModules } from '../../../functions/aws/documents.ts'
import { openInputs } from '../../../functions/aws/ports-without-sdk.ts'

describe('deployed documents', () => {
  const deployed = {
    coding: { document: 'name: coding', dag_hash: 'b', machine: 'sluice-dev-coding', parts: 0 },
    basic: { document: 'name: basic', dag_hash: 'a', machine: 'sluice-dev-basic', parts: 0 },
  }
  const documents = openDocuments({ deployed })

  test('are listed by name and read as they were deployed', async () => {
    expect(documents.names()).toEqual(['basic', 'coding'])
    expect(await documents.read('basic', 'deployed')).toBe('name: basic')
    expect(await documents.read('basic', 'example')).toBe('name: basic')
  })

  test.each(['none', '', 'constructor', '__proto__', 'toString'])('there is none called %j', async (name) => {
    expect(await documents.read(name, 'deployed')).toBeUndefined()
  })
})

test('the Inputs port of AWS refuses every path and says what to give instead', async () => {
  for (const path of ['countries.json', '../x', `objstore://main/${'0'.repeat(64)}`]) {
    await expect(openInputs().read('main', path)).rejects.toMatchObject({
      name: 'Rejected',
      code: 'inputs_not_here',
      message: expect.stringContaining('objstore://tenant/sha256'),
    })
  }
})

describe('deployed gates', () => {
  const modules = openModules({ gates: { './gates/fair.ts': { text: 'script', hash: 'a' } } })

  test('are answered by their path as they were deployed', async () => {
    expect(await modules.gate('./gates/fair.ts')).toEqual({ ok: true, text: 'script', hash: 'a' })
  })

  test.each(['./gates/fare.ts', '', 'constructor', '__proto__'])('there is none of %j', async (path) => {
    expect(await modules.gate(path)).toMatchObject({ ok: false, code: 'gate_module_missing' })
  })
})
