import { describe, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { McpServersSettingsSchema, mcpKeys, mcpToolRules, readMcpUse } from '../../../shared/tools/settings.ts'

function refusal(yaml: string): string {
  try {
    parseSettings(yaml, 'sluice.yaml')
    return 'taken'
  } catch (error) {
    return error instanceof Fault ? error.message : String(error)
  }
}

const CRM = 'url: https://mcp.example/mcp, tools: [find]'

describe('mcp_servers', () => {
  test('takes servers of both kinds, with the safest defaults', () => {
    const { mcp_servers } = parseSettings(
      `mcp_servers:\n  crm: { ${CRM}, key: { env: CRM_KEY } }\n  files: { command: [npx, server, .], env: [PATH], tools: { all: true } }\n`,
      'sluice.yaml',
    )
    expect(mcp_servers.crm).toEqual({
      url: 'https://mcp.example/mcp',
      private: false,
      key: { env: 'CRM_KEY' },
      headers: {},
      env: [],
      timeout_ms: 60_000,
      tools: ['find'],
      trust: 'untrusted',
      effects: {},
      idempotent: [],
    })
    expect(mcp_servers.files).toMatchObject({ command: ['npx', 'server', '.'], env: ['PATH'], tools: { all: true } })
  })

  test.each([
    [
      'crm: { tools: [find] }',
      'mcp_servers.crm: has neither url nor command: give url: https://.. for a server of streamable HTTP',
    ],
    [`crm: { ${CRM}, command: [x] }`, 'mcp_servers.crm: has both url and command'],
    ['crm: { url: https://mcp.example }', 'mcp_servers.crm.tools: a list of names of tools, or {all: true}'],
    [
      'crm: { url: https://mcp.example, tools: { all: false } }',
      'mcp_servers.crm.tools: a list of names of tools, or {all: true}',
    ],
    ['crm: { url: http://mcp.example, tools: [find] }', 'mcp_servers.crm.url: https, or http on 127.0.0.1'],
    [`crm: { ${CRM}, env: [PATH] }`, 'mcp_servers.crm.env: is of a server with command'],
    ['crm: { command: [x], tools: [find], key: { env: A } }', 'mcp_servers.crm.key: is of a server with url'],
    [
      `crm: { ${CRM}, headers: { Authorization: { env: A } } }`,
      'a header that is not written already; for Authorization give key',
    ],
    [`crm: { ${CRM}, effects: { drop: read } }`, 'mcp_servers.crm.effects: names "drop", which tools does not allow'],
    [`crm: { ${CRM}, idempotent: [drop] }`, 'mcp_servers.crm.idempotent: names "drop", which tools does not allow'],
    [`graph: { ${CRM} }`, 'a name that no tool of ours begins with'],
    ['crm: { url: "https://mcp.example", tools: ["a b"] }', 'mcp_servers.crm.tools'],
  ])('refuses %s', (server, words) => {
    expect(refusal(`mcp_servers:\n  ${server}\n`)).toContain(words)
  })

  test('never tells a URL or a command again: both may hold a secret', () => {
    const said = refusal(
      'mcp_servers:\n  crm: { url: "http://mcp.example/s3cr3t-path", command: [x, "--token=s3cr3t"], tools: [a] }\n',
    )
    expect(said).toContain('mcp_servers.crm')
    expect(said).not.toContain('s3cr3t')
  })

  test("what a tool may do is the settings' to say; of an unknown one the worst is taken", () => {
    const servers = McpServersSettingsSchema.parse({
      crm: {
        url: 'https://mcp.example',
        tools: { all: true },
        trust: 'trusted',
        effects: { find: 'read' },
        idempotent: ['put'],
      },
    })
    expect(mcpToolRules(servers, 'crm.find')).toEqual({ effect: 'read', idempotent: false, untrusted: false })
    expect(mcpToolRules(servers, 'crm.put')).toEqual({ effect: 'write', idempotent: true, untrusted: false })
    expect(mcpToolRules(servers, 'crm.constructor')).toMatchObject({ effect: 'write', idempotent: false })
    expect(mcpToolRules(servers, 'other.find')).toEqual({ effect: 'write', idempotent: false, untrusted: true })
    expect(readMcpUse('crm.a.b/c')).toEqual({ server: 'crm', tool: 'a.b/c' })
  })

  test('lists every key with its place', () => {
    const key = { env: 'A' }
    expect(mcpKeys({ key, headers: { 'X-Team': { env: 'B' } } })).toEqual([
      { path: 'key', header: 'authorization', key },
      { path: 'headers.X-Team', header: 'x-team', key: { env: 'B' } },
    ])
  })
})
