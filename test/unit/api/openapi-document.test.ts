import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import about from '../../../package.json' with { type: 'json' }
import { openApi } from '../../../shared/api/openapi.ts'
import { sha256 } from '../../../shared/text/hash.ts'

const root = join(import.meta.dirname, '../../..')
const document = () => JSON.parse(JSON.stringify(openApi(about.version)))

/** Judged by a validator that is not ours. */
async function verdict(of: object): Promise<{ readonly valid: boolean; readonly errors?: unknown }> {
  const { valid, errors } = await new Validator().validate(of as Record<string, unknown>)
  return { valid, ...(errors === undefined ? {} : { errors }) }
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(document().openapi).toBe('3.1.0')
    expect(await verdict(document())).toEqual({ valid: true })
  })

  it('would not be with a parameter that stands nowhere', async () => {
    const bad = document()
    bad.paths['/api/dag/runs'].get.parameters[0].in = 'nowhere'
    expect((await verdict(bad)).valid).toBe(false)
  })

  it('is the one the types of its clients were made of (else: npm run generate)', () => {
    const [head = ''] = readFileSync(join(root, 'clients/api/schema.generated.ts'), 'utf8').split('\n')
    expect(head).toContain(`sha256 ${sha256(JSON.stringify(openApi(about.version)))}`)
  })
})
