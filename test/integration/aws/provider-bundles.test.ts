import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleFunctions } from '../../../infra/aws/bundle.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { firstDaily } from '../../how-much.ts'
import { importBundles } from './function-process.ts'

/** What each type of provider adds to run-block, and that a stage which names none carries none of their packages. */
const dir = mkdtempSync(join(tmpdir(), 'sluice-provider-bundles-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const url = 'https://models.example/v1'
/** A word of each package that stands in its text alone, and the most bytes it may add. */
const TYPES: Readonly<Record<string, readonly [settings: object, mark: string, most: number]>> = {
  'openai-compatible': [{ url }, 'openaiCompatible', 115_000],
  openclaw: [{ url }, 'x-openclaw-agent-id', 115_000],
  openai: [{}, 'OPENAI_BASE_URL', 340_000],
  anthropic: [{}, 'anthropic-version', 285_000],
  google: [{}, 'x-goog-api-key":', 285_000],
  bedrock: [{ models: ['amazon.nova-lite-v1:0'] }, 'AmazonBedrockFrontendService', 100_000],
  'ai-sdk': [{ package: './providers/own.ts', url }, 'a model of the project', 60_000],
}

async function bundle(name: string, providers: object): Promise<string> {
  const settings = SettingsSchema.parse({ providers })
  await bundleFunctions(join(dir, name), { settings, dags: [], names: stageNames('dev'), project: dir }, ['run-block'])
  return readFileSync(join(dir, name, 'run-block', 'index.mjs'), 'utf8')
}

let plain = ''
beforeAll(async () => {
  mkdirSync(join(dir, 'providers'))
  writeFileSync(
    join(dir, 'providers', 'own.ts'),
    "import * as z from 'zod'\nexport default (given: { model: string }) => ['a model of the project', z.string(), given.model]\n",
  )
  plain = await bundle('plain', {})
}, 240_000)

test('a stage that names no provider carries no package of one', () => {
  for (const [, mark] of Object.values(TYPES)) expect(plain).not.toContain(mark)
})

test('a package that the project has not installed is told in words', async () => {
  await expect(bundle('none', { own: { type: 'ai-sdk', package: '@acme/none' } })).rejects.toMatchObject({
    name: 'InvalidInput',
    message: expect.stringMatching(/Could not resolve "@acme\/none"\. Install it in the folder of sluice\.yaml/),
  })
})

for (const { tags, rows } of firstDaily(1, Object.entries(TYPES))) {
  test.each(rows)(
    '%s is carried by who asks providers where it is named, alone, and starts there',
    { tags, timeout: 120_000 },
    async (type, [settings, mark, most]) => {
      const text = await bundle(type, { own: { type, ...settings } })
      expect(text).toContain(mark)
      const others = Object.entries(TYPES).filter(
        ([other]) => other !== type && !(type === 'openclaw' && other === 'openai-compatible'),
      )
      for (const [, [, other]] of others) expect(text).not.toContain(other)
      const more = text.length - plain.length
      process.stdout.write(
        `run-block: ${Math.round(text.length / 1_000)} KB, ${Math.round(more / 1_000)} KB more with ${type}\n`,
      )
      expect(more).toBeLessThanOrEqual(most)
      // Error texts of zod in fifty languages stay where they are.
      expect(text).not.toContain('Felaktig')
      expect(importBundles(join(dir, type), ['run-block'])).toEqual({
        handlers: [['run-block', 'function']],
        stderr: '',
      })
    },
  )
}
