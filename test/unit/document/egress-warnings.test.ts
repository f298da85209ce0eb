import { expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

/** What validate says of a gate that asks this URL, where a place has these settings of egress. */
function told(url: string, settings: object) {
  const check = { type: 'http', url }
  const agent = { provider: 'local', model: 'outline', prompt: 'Do it' }
  const block = { id: 'a', outputs: { x: 'string' }, agent, post_gates: [{ name: 'up', check }] }
  const parsed = parseDag({ blocks: [block] }, { routing: SettingsSchema.parse(settings) })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
  return parsed.warnings.filter(({ code }) => code === 'gate_cannot_run')
}

const URL_ASKED = 'https://status.example.org/up'
const hosts = ['api.example.com', '*.example.net']

test('a gate whose host the allow-list does not let through is told with its place, the host, the list and the fix', () => {
  expect(told(URL_ASKED, { egress: { hosts } })).toEqual([
    {
      code: 'gate_cannot_run',
      path: 'blocks[0].post_gates[0].check',
      message:
        'Gate "up" of block "a" will never pass: host status.example.org is not in egress.hosts of sluice.yaml, which has "api.example.com", "*.example.net". Add the host there, or let the gate ask one of these.',
    },
  ])
  expect(told(URL_ASKED, { egress: { hosts: [] } })[0]?.message).toContain('which is empty')
})

test.each([
  ['without egress', URL_ASKED, {}],
  ['below a listed host', 'https://a.example.net/', { egress: { hosts } }],
  ['of this machine', 'http://127.0.0.1/', { egress: { hosts }, http_gates: { loopback: true } }],
  ['past the proxy', URL_ASKED, { egress: { proxy: 'http://proxy:1', no_proxy: ['*.example.org'] } }],
  ['named for gates', URL_ASKED, { egress: { proxy: 'http://proxy:1' }, http_gates: { hosts: ['*.example.org'] } }],
  ['of whatever proxy the environment has', URL_ASKED, { egress: { proxy: 'environment' } }],
])('a host %s is not', (_, url, settings) => {
  expect(told(url, settings)).toEqual([])
})

test('a proxy that no list names hosts for is told too: it looks names up by itself', () => {
  expect(told(URL_ASKED, { egress: { proxy: 'http://proxy:1' } })[0]?.message).toMatch(
    /host status\.example\.org would be looked up by the proxy, .* Name it in egress\.hosts or http_gates\.hosts of sluice\.yaml\.$/,
  )
})
