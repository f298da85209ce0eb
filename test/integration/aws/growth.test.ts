import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { afterAll, describe, expect, test } from 'vitest'
import { type DeployedDag, readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { MachinesStack } from '../../../infra/aws/machines-stack.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { firstDaily } from '../../how-much.ts'
import { readText } from '../../unit/docs/markdown.ts'
import type { Resource } from './assembly.ts'
import { growingDocument } from './growing-document.ts'
import { cdkContext } from './synthesized.ts'

/**
 * What a document of 10 to 1,000 blocks becomes: five side by side, each after two of those before it. The stack of the
 * machines is synthesized with it alone; of the functions only the names matter, so their code is empty.
 */
const SIZES = [10, 100, 500, 1_000]
const folder = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

interface Row {
  readonly blocks: number
  readonly bytes: number
  readonly machines: number
  readonly resources: number
  readonly seconds: number
}

function synthesize(blocks: number): Row {
  const root = join(folder, String(blocks))
  mkdirSync(join(root, 'dags'), { recursive: true })
  writeFileSync(join(root, 'dags/large.yaml'), growingDocument(blocks))
  const begun = performance.now()
  const dags = readDeployedDags(join(root, 'dags'), root)
  writeBuilt(root, dags)
  const Resources = synthesizeStack(root, dags)
  const [dag] = dags
  return {
    blocks,
    bytes: dags.reduce((sum, { definition, parts }) => sum + bytesOf(definition, parts), 0),
    machines: 1 + (dag?.parts.length ?? 0),
    resources: Object.values(Resources).filter(({ Type }) => Type.startsWith('AWS::StepFunctions::')).length,
    seconds: Number(((performance.now() - begun) / 1_000).toFixed(1)),
  }
}

function synthesizeStack(root: string, dags: readonly DeployedDag[]): Readonly<Record<string, Resource>> {
  const app = new App({ outdir: join(root, 'out'), analyticsReporting: false, context: cdkContext() })
  const none = { secrets: [], models: [], research: { secrets: [], models: [] }, embeddings: [], shell: false }
  new MachinesStack(app, 'SluiceMachines', {
    names: stageNames('dev'),
    dags,
    triggers: [],
    built: root,
    chosen: { ...none, tenants: ['main'] },
  })
  app.synth()
  return JSON.parse(readFileSync(join(root, 'out/SluiceMachines.template.json'), 'utf8')).Resources
}

function bytesOf(definition: string, parts: DeployedDag['parts']): number {
  return [definition, ...parts.map(({ text }) => text)].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

function writeBuilt(root: string, dags: readonly DeployedDag[]): void {
  for (const { name } of FUNCTIONS) {
    mkdirSync(join(root, 'functions', name), { recursive: true })
    writeFileSync(join(root, 'functions', name, 'index.mjs'), `// ${name}\n`)
  }
  mkdirSync(join(root, 'definitions'))
  for (const { slug, definition, parts } of dags) {
    writeFileSync(join(root, 'definitions', `${slug}.json`), definition)
    for (const [i, { text }] of parts.entries()) writeFileSync(join(root, 'definitions', `${slug}_${i + 1}.json`), text)
  }
}

for (const { tags, rows: sizes } of firstDaily(2, SIZES)) {
  describe(`documents of ${sizes.join(' and ')} blocks`, { tags }, () => {
    const rows: Row[] = []
    afterAll(() => console.table(rows))

    test.each(sizes)('%i blocks are deployed in parts that Step Functions takes', (blocks) => {
      const row = synthesize(blocks)
      rows.push(row)
      // A definition may have 1 MB; each machine is itself and a version, and a parameter names that of the whole.
      expect(row.bytes / row.machines).toBeLessThan(1_000_000)
      expect(row.resources).toBe(2 * row.machines + 1)
    })

    test('docs/deploy.md has these figures', () => {
      const page = readText('docs/deploy.md')
      const chapter = page.slice(page.indexOf('## How it grows')).split('\n## ')[0] ?? ''
      const told = [...chapter.matchAll(/^\| +([\d,]+) +\| +([\d,]+) +\| +(\d+) +\| +(\d+) +\|/gm)]
      expect(told).toHaveLength(SIZES.length)
      const cells = (row: Row) =>
        [row.blocks, row.bytes, row.machines, row.resources].map((n) => n.toLocaleString('en-US'))
      const from = SIZES.indexOf(sizes[0] ?? 0)
      expect(told.slice(from, from + sizes.length).map(([, ...shown]) => shown)).toEqual(rows.map(cells))
    })
  })
}

test('a stack of 120 documents is below the 500 resources CloudFormation takes', { tags: ['thorough'] }, () => {
  const root = join(folder, 'many')
  mkdirSync(join(root, 'dags'), { recursive: true })
  for (let i = 0; i < 120; i++) writeFileSync(join(root, `dags/plan-${i}.yaml`), growingDocument(10 + i, `plan ${i}`))
  const dags = readDeployedDags(join(root, 'dags'), root)
  writeBuilt(root, dags)
  expect(Object.keys(synthesizeStack(root, dags)).length).toBeLessThan(500)
})
