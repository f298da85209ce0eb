import { findAgent } from './find-agent.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted } from './wording.ts'

/** The model a gate asks is one of the place, when its providers are known; `local` is none wherever it is not rebound. */
export function checkJudge(
  { problems, providers, routing }: Reading,
  { provider, model }: { readonly provider: string; readonly model: string },
  path: Path,
): void {
  const refuse = (code: string, key: string, say: Problem['say']) => problems.push({ code, path: [...path, key], say })
  const settings = routing?.providers ?? {}
  const type = Object.hasOwn(settings, provider) ? settings[provider]?.type : undefined
  if (type === 'local' || (provider === 'local' && type === undefined)) {
    refuse('invalid_value', 'provider', ({ place }) => ({
      text: `${place} is ${quoted(provider)}, a set of text tools, not a model that can judge`,
      hint: 'Name a provider of sluice.yaml that has a model.',
    }))
    return
  }
  if (providers !== undefined && !providers.includes(provider)) {
    refuse('unknown_provider', 'provider', ({ place }) => ({
      text: `${place} is ${quoted(provider)}, which is not configured; configured are ${listed(providers)}`,
      hint: didYouMean(suggest(provider, providers)) ?? 'Add it to sluice.yaml.',
    }))
    return
  }
  const found = routing === undefined ? undefined : findAgent({ provider, model }, routing)
  if (found === undefined || found.ok) return
  const { code, text, hint } = found
  refuse(code, 'model', ({ who }) => ({ text: `${who} has a gate that ${text}`, hint }))
}
