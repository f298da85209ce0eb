import type { Gate } from './gate.ts'
import { finishReason, isRefusal, language } from './kinds/answer.ts'
import { cost, latency, tokens } from './kinds/attempt-usage.ts'
import { citationCoverage, citationExists, numbersInEvidence } from './kinds/citations.ts'
import { contains, containsAny, endsWith, semanticReview, startsWith } from './kinds/contains.ts'
import { diff, equals, oneOf } from './kinds/equals.ts'
import { expr } from './kinds/expr.ts'
import { csvColumns, markdownSections, validYaml } from './kinds/formats.ts'
import { http } from './kinds/http.ts'
import { containsJson, jsonPath, jsonSchema, keysPresent, validJson } from './kinds/json.ts'
import { maxLength, minLength, notEmpty, portMinLength, portNotEmpty, wordCount } from './kinds/length.ts'
import { llmReview } from './kinds/llm-review.ts'
import { matches, portMatches } from './kinds/matches.ts'
import { noPii } from './kinds/no-pii.ts'
import { noSecrets } from './kinds/no-secrets.ts'
import { promptInjectionHeuristics } from './kinds/prompt-injection.ts'
import { quoteVerbatim } from './kinds/quote-verbatim.ts'
import { freshness, maxValue, range } from './kinds/range.ts'
import { refuse } from './kinds/refuse.ts'
import { shell } from './kinds/shell.ts'
import { levenshtein, rougeN } from './kinds/similarity.ts'
import { urlAllowList, validUrl } from './kinds/url.ts'
import { validXml } from './kinds/valid-xml.ts'
import { artifactExists, portType, typeIs } from './kinds/value-type.ts'
import { webhook } from './kinds/webhook.ts'

/** Every gate kind by family, in the order of the generated reference. */
const FAMILIES: Readonly<Record<string, readonly Gate<unknown>[]>> = {
  'The thirteen': [
    contains,
    matches,
    minLength,
    maxValue,
    validJson,
    validUrl,
    jsonSchema,
    http,
    diff,
    cost,
    latency,
    shell,
    semanticReview,
  ],
  Text: [notEmpty, equals, containsAny, startsWith, endsWith, wordCount, maxLength, levenshtein, rougeN],
  Structure: [
    typeIs,
    containsJson,
    validYaml,
    validXml,
    csvColumns,
    markdownSections,
    jsonPath,
    keysPresent,
    oneOf,
    range,
  ],
  Safety: [noSecrets, noPii, urlAllowList, promptInjectionHeuristics, language],
  Grounding: [quoteVerbatim, citationExists, citationCoverage, numbersInEvidence],
  Model: [isRefusal, finishReason, llmReview],
  Ops: [artifactExists, tokens, freshness, webhook],
  'Names of other systems': [portNotEmpty, portMatches, portMinLength, portType, expr],
}

const BY_TYPE: ReadonlyMap<string, Gate<unknown>> = new Map(
  Object.values(FAMILIES).flatMap((gates) => gates.map((gate) => [gate.type, gate])),
)

/** The gate of that type name, as documents may use it; undefined = there is none. */
export function findGate(type: string): Gate<unknown> | undefined {
  return BY_TYPE.get(type)
}

/** The same with those that no document names: what stands in the way of an agent's call is told as a verdict. */
export function findAnyGate(type: string): Gate<unknown> | undefined {
  return type === refuse.type ? refuse : BY_TYPE.get(type)
}

/** Every type name a check may have. */
export function gateTypes(): readonly string[] {
  return [...BY_TYPE.keys()]
}

/** The families of the reference with the types of each. */
export function gateFamilies(): readonly { readonly family: string; readonly types: readonly string[] }[] {
  return Object.entries(FAMILIES).map(([family, gates]) => ({ family, types: gates.map(({ type }) => type) }))
}
