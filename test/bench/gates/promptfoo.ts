import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../../../shared/text/json.ts'

/** An assertion as promptfoo's configuration files write it. */
export interface Assertion {
  readonly type: string
  readonly value?: Json
  readonly threshold?: number
}

/** What an assertion looks at; `undefined` is what a provider that does not say leaves. */
export interface Answered {
  readonly output: Json
  readonly cost?: number | undefined
  readonly latencyMs?: number | undefined
  readonly finishReason?: string | undefined
}

export interface Promptfoo {
  readonly version: string
  /** An assertion that throws has not passed. */
  passes(assertion: Assertion, answered: Answered): Promise<boolean>
}

/**
 * promptfoo's public `assertions.runAssertion`, which its evaluations call. Its package is in test/bench/gates and
 * absent until `npm ci --prefix test/bench/gates`, so there is no static import and none of its types.
 */
export async function openPromptfoo(folder: string): Promise<Promptfoo> {
  // Before the import reads them: no telemetry, no look for updates, nothing in the home folder.
  Object.assign(process.env, {
    PROMPTFOO_DISABLE_TELEMETRY: '1',
    PROMPTFOO_DISABLE_UPDATE: '1',
    PROMPTFOO_CONFIG_DIR: folder,
  })
  const name = 'promptfoo'
  const { assertions } = (await import(name)) as PromptfooModule
  const manifest = join(import.meta.dirname, 'node_modules', name, 'package.json')
  return {
    version: (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version,
    passes: async (assertion, { output, cost, latencyMs, finishReason }) => {
      const providerResponse = { output, cost, finishReason }
      try {
        return (await assertions.runAssertion({ assertion, test: { vars: {} }, providerResponse, latencyMs })).pass
      } catch {
        return false
      }
    },
  }
}

interface PromptfooModule {
  readonly assertions: { runAssertion(options: object): Promise<{ readonly pass: boolean }> }
}
