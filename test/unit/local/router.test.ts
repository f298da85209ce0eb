import { describe, expect, it } from 'vitest'
import { matchRoute } from '../../../infra/local/server.ts'
import { Fault } from '../../../shared/errors.ts'
import { ROUTES } from '../../../shared/routes.ts'

describe('matchRoute()', () => {
  it('finds every route of the catalog by an address of its own', () => {
    for (const { method, path, name } of ROUTES) {
      const address = path.replace('{run_id}', 'run_1').replace('{name+}', 'a/b.md')
      expect(matchRoute(method, address).line.name).toBe(name)
    }
  })

  it('decodes parameters, and gives the rest of the path to an open one', () => {
    const { params } = matchRoute('GET', '/api/dag/runs/run_1/artifacts/out/a%20b%2Fc.md')
    expect(params).toEqual({ run_id: 'run_1', name: 'out/a b/c.md' })
    expect(matchRoute('GET', '/api/health').params).toBeNull()
  })

  it('prefers fixed words to parameters', () => {
    expect(matchRoute('POST', '/api/dag/runs/stop-all').line.name).toBe('stop-all')
    expect(matchRoute('GET', '/api/dag/runs/stop-all').params).toEqual({ run_id: 'stop-all' })
  })

  it.each([
    ['GET', '/', 404, 'route_not_found'],
    ['GET', '/api/health/', 404, 'route_not_found'],
    ['GET', '//api/health', 404, 'route_not_found'],
    ['GET', '/api/dag/runs//replay', 404, 'route_not_found'],
    ['GET', 'http://127.0.0.1/api/health', 404, 'route_not_found'],
    ['OPTIONS', '/api/health', 405, 'method_not_allowed'],
    ['HEAD', '/api/health', 405, 'method_not_allowed'],
    ['PUT', '/api/dag/runs/run_1', 405, 'method_not_allowed'],
    ['GET', '/api/dag/runs/%ff', 400, 'bad_path'],
  ])('%s %s is %i %s', (method, path, status, code) => {
    const refuse = () => matchRoute(method, path)
    expect(refuse).toThrow(Fault)
    expect(refuse).toThrow(expect.objectContaining({ status, code }))
  })

  it('names every allowed method of a path', () => {
    const refuse = () => matchRoute('DELETE', '/api/dag/runs/run_1/context')
    expect(refuse).toThrow(expect.objectContaining({ facts: { allow: ['GET', 'PATCH'] } }))
  })
})
