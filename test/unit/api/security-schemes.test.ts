import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { openApi } from '../../../shared/api/openapi.ts'
import { ROUTES } from '../../../shared/routes.ts'

describe.each(['token', 'jwt', 'iam'] as const)('the OpenAPI document of mode %s', (mode) => {
  const document = openApi('1.0.0', mode)
  const operations = ROUTES.map(({ path, method, ...line }) => {
    const operation = document.paths[path.replace('+}', '}')]?.[method.toLowerCase()]
    return { line, security: (operation as { readonly security?: readonly Record<string, string[]>[] }).security }
  })

  test('is a valid one', async () => {
    expect((await new Validator().validate(structuredClone(document))).errors).toBeUndefined()
  })

  test('has one scheme, which every route asks for but the one that Slack signs', () => {
    const schemes = Object.keys(document.components.securitySchemes ?? {})
    expect(schemes).toEqual([mode === 'iam' ? 'sigv4' : 'bearer'])
    const asked = operations.map(({ security }) => security)
    const scopesOf = (scope: string | undefined) => (scope === undefined || mode === 'iam' ? [] : [scope])
    expect(asked).toEqual(
      operations.map(({ line }) => (line.signed_by ? [] : [{ [schemes[0] ?? '']: scopesOf(line.scope) }])),
    )
  })
})

test('where no login is asked for, none is described', () => {
  const text = JSON.stringify(openApi('1.0.0'))
  expect(text).not.toContain('securitySchemes')
  expect(text).not.toContain('"security"')
})
