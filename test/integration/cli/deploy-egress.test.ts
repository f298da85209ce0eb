import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, Stack } from 'aws-cdk-lib/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { egressLine } from '../../../clients/cli/aws/deployment-commands.ts'
import { readTemplates } from '../../../clients/cli/aws/synthesis.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-egress-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['nothing', undefined, /any public host/],
  ['an empty list', [], /no host at all, since http_gates.hosts is empty/],
  ['a list', ['a.example', '*.b.example'], /2 hosts of http_gates.hosts: a.example, \*.b.example/],
])('deploy says of http_gates.hosts, %s, what gates may reach', (_, hosts, words) => {
  const app = new App()
  const stack = new Stack(app, 'Machines')
  // As infra/aws/build-app.ts does it.
  if (hosts !== undefined) stack.addMetadata('sluice:egress', JSON.stringify(hosts))
  const [artifact] = app.synth().stacks
  writeFileSync(join(folder, 'data.template.json'), JSON.stringify({ Resources: {} }))
  writeFileSync(join(folder, 'machines.template.json'), JSON.stringify({ Resources: {}, ...artifact?.template }))
  const { egress } = readTemplates(folder)
  expect(egress).toEqual(hosts)
  expect(egressLine(egress)).toMatch(words)
})

test('and which services the settings name besides', () => {
  const app = new App()
  const stack = new Stack(app, 'Machines')
  stack.addMetadata('sluice:services', JSON.stringify(['crm (crm.example)']))
  const [artifact] = app.synth().stacks
  writeFileSync(join(folder, 'machines.template.json'), JSON.stringify({ Resources: {}, ...artifact?.template }))
  const { egress, services } = readTemplates(folder)
  expect(services).toEqual(['crm (crm.example)'])
  expect(egressLine(egress, services)).toMatch(/any public host.*; and 1 service: crm \(crm\.example\)$/)
})
