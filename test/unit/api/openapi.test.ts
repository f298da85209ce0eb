import { describe, expect, it } from 'vitest'
import { openApi, ROUTE_SCHEMAS } from '../../../shared/api/openapi.ts'
import { ROUTES } from '../../../shared/routes.ts'

describe('openApi()', () => {
  const document = openApi('1.2.3')

  it('has every route of the catalog, and every route has a schema', () => {
    expect(Object.keys(ROUTE_SCHEMAS).sort()).toEqual(ROUTES.map(({ name }) => name).sort())
    for (const { method, path } of ROUTES) {
      const operation = document.paths[path.replace('+}', '}')]?.[method.toLowerCase()]
      expect(operation, `${method} ${path}`).toBeDefined()
    }
  })

  it('declares every parameter a path has', () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const operation of Object.values(operations)) {
        const { parameters } = operation as { parameters: { name: string; in: string }[] }
        const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
        expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
      }
    }
  })

  it('makes the start body of the schema that parses it', () => {
    const post = document.paths['/api/dag/run']?.post as { requestBody: { content: Record<string, unknown> } }
    expect(JSON.stringify(post.requestBody.content)).toMatch(/"max_parallel":\{[^}]*"maximum":1000/)
  })

  it('has what every reference names', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '')
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    expect(new Set(references)).toEqual(new Set(known))
  })

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  })
})
