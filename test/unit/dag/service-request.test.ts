import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pathProblem, ServiceRequestSchema, writeServiceRequest } from '../../../shared/dag/service-request.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { type ServiceSettings, ServicesSettingsSchema } from '../../../shared/services/settings.ts'
import type { Json } from '../../../shared/text/json.ts'

const SERVICES = ServicesSettingsSchema.parse({
  crm: { url: 'https://crm.example/api/v1', key: { env: 'CRM_KEY' } },
  bills: { url: 'https://bills.example:8443', key: { env: 'K' }, header: 'X-Api-Key' },
})
const [crm] = Object.values(SERVICES) as [ServiceSettings]

/** What is sent with these values. */
function written(config: object, values: Readonly<Record<string, Json>> = {}) {
  return writeServiceRequest(ServiceRequestSchema.parse({ service: 'crm', path: '/x', ...config }), crm, values)
}

describe('a request is written', () => {
  test('with the values of inputs percent-encoded in path and query, and as they are in the body', () => {
    const config = {
      method: 'POST',
      path: '/customers/{{inputs.id}}/notes',
      query: { q: '{{inputs.q}}', page: 2, 'full text': true },
      headers: { 'X-Trace': 'of {{inputs.id}}' },
      body: { note: 'about {{inputs.id}}', tags: ['{{inputs.tags}}', 'x'], n: '{{inputs.n}}', raw: 1 },
    }
    const values = { id: 'a b/ü?', q: 'a=b&c#d', tags: ['one'], n: 7 }
    expect(() => written(config, values)).toThrow(
      /header "X-Trace" has, with its values in place, what a header cannot carry/,
    )
    expect(written({ ...config, headers: { 'X-Trace': '{{inputs.n}}' } }, values)).toEqual({
      url: 'https://crm.example/api/v1/customers/a%20b%2F%C3%BC%3F/notes?q=a%3Db%26c%23d&page=2&full%20text=true',
      headers: { 'x-trace': '7' },
      body: { note: 'about a b/ü?', tags: [['one'], 'x'], n: 7, raw: 1 },
    })
  })

  test.each([
    ['{{inputs.a}}', { a: '..' }],
    ['{{inputs.a}}', { a: '.' }],
    ['{{inputs.a}}', { a: '../..' }],
    ['{{inputs.a}}', { a: 'x/../../y' }],
    ['{{inputs.a}}', { a: '..\\..' }],
    ['{{inputs.a}}', { a: '%2e%2e' }],
    ['{{inputs.a}}', { a: '%252e%252E%252f' }],
    ['{{inputs.a}}{{inputs.b}}', { a: '.', b: '.' }],
    ['.{{inputs.a}}', { a: '.' }],
    ['%2e{{inputs.a}}', { a: '.' }],
  ])('never above the URL of the service: /%s with %j is refused', (path, values) => {
    expect(() => written({ path: `/${path}` }, values)).toThrow(/a part "\." or "\.\."/)
  })

  test.each([
    ['//evil.example', 'https://crm.example/api/v1/%2F%2Fevil.example'],
    ['https://evil.example', 'https://crm.example/api/v1/https%3A%2F%2Fevil.example'],
    ['@evil.example', 'https://crm.example/api/v1/%40evil.example'],
    ['x?a=b', 'https://crm.example/api/v1/x%3Fa%3Db'],
    ['x\r\nhost: evil', 'https://crm.example/api/v1/x%0D%0Ahost%3A%20evil'],
    ['{{inputs.b}}', 'https://crm.example/api/v1/%7B%7Binputs.b%7D%7D'],
    ['\ud800', 'https://crm.example/api/v1/%EF%BF%BD'],
  ])('a value %j is one segment', (a, url) => {
    expect(written({ path: '/{{inputs.a}}' }, { a, b: 'no' }).url).toBe(url)
  })

  test('an empty value in a path is refused: it would ask for the whole list', () => {
    expect(() => written({ method: 'DELETE', path: '/customers/{{inputs.id}}' }, { id: '' })).toThrow(/is empty/)
    expect(written({ query: { q: '{{inputs.id}}' } }, { id: '' }).url).toMatch(/\?q=$/)
  })

  test('a line break in a header is refused, wherever it comes from', () => {
    expect(() => written({ headers: { 'X-A': '{{inputs.a}}' } }, { a: 'x\r\nauthorization: Bearer y' })).toThrow(
      /header "X-A" has, .* printable ASCII on one line/,
    )
    expect(ServiceRequestSchema.safeParse({ service: 'crm', path: '/x', headers: { 'X-A': 'a\nb' } }).success).toBe(
      false,
    )
  })

  test('a value that is missing is told by its name', () => {
    const wrong = {
      code: 'missing_input',
      message: expect.stringContaining('query.q reads inputs.q, which has no value'),
    }
    expect(() => written({ query: { q: '{{inputs.q}}' } })).toThrow(expect.objectContaining(wrong))
  })

  test('a body of more than 1 MiB, and a URL of more than 8,192 characters, are refused with the figures', () => {
    const long = 'x'.repeat(1_100_000)
    expect(() => written({ method: 'PUT', body: { a: '{{inputs.a}}' } }, { a: long })).toThrow(
      /1100008 bytes as JSON; 1048576/,
    )
    expect(() => written({ query: { a: '{{inputs.a}}' } }, { a: 'x'.repeat(9_000) })).toThrow(/8192 are allowed/)
  })
})

const PARTS = [
  '.',
  '..',
  '/',
  '\\',
  '%',
  '%2e',
  '%2F',
  '?',
  '#',
  '@',
  ':',
  '//',
  'a',
  'ü',
  '\n',
  '{{inputs.b}}',
  'http:',
  '\ud800',
  ' ',
  '',
]
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...PARTS)).map((parts) => parts.join('')),
  fc.jsonValue(),
)
const template = fc.array(fc.constantFrom('/', '.', 'a', '%2e', '~', '{{inputs.a}}', '{{inputs.b}}'), { maxLength: 8 })

test('whatever path a document may have, and whatever its values are, the request goes below the URL of the service', () => {
  fc.assert(
    fc.property(template, hostile, hostile, (parts, a, b) => {
      const path = `/${parts.join('')}`
      fc.pre(pathProblem(path) === undefined)
      let url: URL
      try {
        url = new URL(written({ path, query: { q: '{{inputs.a}}' } }, { a: a as Json, b: b as Json }).url)
      } catch (error) {
        expect(error).toMatchObject({ name: 'InvalidInput', code: 'bad_service_request' })
        return
      }
      expect(url.origin).toBe('https://crm.example')
      expect(url.pathname.startsWith('/api/v1/')).toBe(true)
      expect([...url.searchParams.keys()]).toEqual(['q'])
      expect([url.hash, url.username, url.password]).toEqual(['', '', ''])
      // As many parts as the document wrote: no value is several.
      expect(url.pathname.split('/').length).toBe(`/api/v1${path}`.split('/').length)
    }),
    { numRuns: 2_000 },
  )
})

test('whatever the values are, a header is one line of printable ASCII or refused', () => {
  fc.assert(
    fc.property(hostile, (a) => {
      try {
        expect(written({ headers: { 'X-A': 'v {{inputs.a}}' } }, { a: a as Json }).headers['x-a']).toMatch(
          /^[\x20-\x7e]*$/,
        )
      } catch (error) {
        expect(error).toMatchObject({ code: 'bad_service_request' })
      }
    }),
  )
})

const documentOf = (config: string, more = '    outputs: { body: json }') => `blocks:
  - id: a
    mode: deterministic
    inputs: { id: string }
${more}
    deterministic: { handler: http, config: ${config} }
`

/** Of each problem: place, code, words. */
function problems(text: string): readonly string[] {
  const parsed = parseDag(text, { services: SERVICES })
  if (parsed.ok) return []
  return parsed.errors.map(
    ({ line, column, code, message }) =>
      `${line}:${column} ${code} ${message.replace('Cannot compile DAG "dag": ', '')}`,
  )
}

describe('a document', () => {
  test.each([
    documentOf('{ service: crm, path: "/customers/{{inputs.id}}" }'),
    documentOf('{ service: crm, method: DELETE, path: "/c/{{inputs.id}}" }', '    outputs: { status: number }'),
    documentOf('{ service: crm, method: DELETE, path: "/c/{{inputs.id}}" }', ''),
    documentOf(
      '{ service: crm, path: /c, accept: [404] }',
      '    outputs: { status: number, headers: json, customer: json }',
    ),
    documentOf('{ service: bills, path: /c, headers: { Accept: text/plain } }', '    outputs: { text: string }'),
    documentOf('{ service: crm, method: POST, path: /c, body_expression: "inputs.id" }'),
    documentOf('{ service: crm, path: /c }', '    cache: { max_age_sec: 60 }\n    outputs: { body: json }'),
  ])('asks a service: %s', (text) => {
    expect(problems(text)).toEqual([])
  })

  test.each([
    [
      documentOf('{ service: crn, path: /c }'),
      /^6:56 unknown_service block "a" asks service "crn", which is not configured; configured are "crm", "bills"\. Did you mean "crm"\?$/,
    ],
    [
      documentOf('{ service: crm, path: customers }'),
      /^6:67 invalid_value .*config\.path of block "a" \("customers"\) is not allowed: it must begin with "\/"/,
    ],
    [documentOf('{ service: crm, path: /a/../b }'), /config\.path of block "a" .*a part "\." or "\.\."/],
    [documentOf('{ service: crm, path: /a/%2E%2e%2fb }'), /a part "\." or "\.\."/],
    [documentOf('{ service: crm, path: //evil.example/x }'), /an empty part/],
    [documentOf('{ service: crm, path: "/a?b=c" }'), /parameters are written under "query"/],
    [documentOf('{ service: crm, path: "/a b" }'), /only percent-encoded/],
    [
      documentOf('{ service: crm, path: "/{{inputs.idd}}" }', '    inputs: {}\n').replace(
        '    inputs: { id: string }\n',
        '',
      ),
      /^$/,
    ],
    [documentOf('{ service: crm, path: "/{{goal}}" }'), /malformed_template|reads inputs as/],
    [
      documentOf('{ service: crm, path: /a, url: https://evil.example }'),
      /unknown_key deterministic\.config\.url of block "a" is an unknown key; allowed are "service", "method", "path"/,
    ],
    [
      documentOf('{ service: crm, path: /a, headers: { Authorization: x } }'),
      /config\.headers\.Authorization of block "a" .*is written by Sluice/,
    ],
    [
      documentOf('{ service: crm, path: /a, headers: { HOST: x } }'),
      /config\.headers\.HOST of block "a" .*is written by Sluice/,
    ],
    [documentOf('{ service: crm, path: /a, headers: { X-Forwarded-For: x } }'), /X-Forwarded-For/],
    [
      documentOf('{ service: bills, path: /a, headers: { x-api-key: x } }'),
      /6:\d+ invalid_value block "a": "x-api-key" holds the key of the service "bills", and is not for documents/,
    ],
    [documentOf('{ service: crm, path: /a, headers: { X-A: 1, x-a: 2 } }'), /must be a text|named twice/],
    [documentOf('{ service: crm, path: /a, headers: { X-A: "1", x-a: "2" } }'), /named twice/],
    [documentOf('{ service: crm, path: /a, headers: { X-A: "a\\r\\nb" } }'), /printable ASCII on one line/],
    [
      documentOf('{ service: crm, path: /a, body: { a: 1 } }'),
      /block "a": "body" does not go with a GET\. Say method: POST/,
    ],
    [
      documentOf('{ service: crm, method: POST, path: /a, body: 1, body_expression: "1" }'),
      /"body" does not go with "body_expression"\. Keep one/,
    ],
    [
      documentOf('{ service: crm, method: POST, path: /a, body_expression: "(" }'),
      /malformed_expression deterministic\.config\.body_expression/,
    ],
    [
      documentOf('{ service: crm, method: post, path: /a }'),
      /allowed are "GET", "POST", "PUT", "PATCH", "DELETE".*Did you mean "POST"/,
    ],
    [documentOf('{ service: crm, path: /a, accept: [999] }'), /the limit is 599/],
    [
      documentOf('{ service: crm, path: /a }', '    outputs: { a: json, b: json }'),
      /handler_ports block "a" has the outputs "a", "b"; the handler "http" fills one at the most, of type json or string, beside "status", "headers"/,
    ],
    [
      documentOf('{ service: crm, path: /a }', '    outputs: { status: string }'),
      /type_mismatch outputs\.status of block "a" is a string; the handler "http" fills number or json/,
    ],
    [
      documentOf(
        '{ service: crm, method: POST, path: /a }',
        '    cache: { max_age_sec: 60 }\n    outputs: { body: json }',
      ),
      /mode_mismatch block "a" has "cache", which does not go with a POST of the handler "http"/,
    ],
  ])('is refused with its place: %s', (text, words) => {
    expect(problems(text).join('\n')).toMatch(words)
  })

  test('of which nobody knows the place may ask any service', () => {
    expect(parseDag(documentOf('{ service: any, path: /c }')).ok).toBe(true)
  })

  test('that reads an input nobody declares is told so, also in a body', () => {
    const config = '{ service: crm, method: POST, path: /a, body: { deep: [{ x: "{{inputs.idd}}" }] } }'
    const text = `inputs: { goal: string }\n${documentOf(config)}`
    expect(problems(text).join()).toMatch(
      /unknown_input deterministic\.config\.body\.deep\[0\]\.x of block "a" reads "inputs\.idd".*Did you mean "id"/,
    )
  })
})
