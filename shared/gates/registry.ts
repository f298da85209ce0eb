import { artifactExists } from './artifact-exists.ts'
import { citationCoverage } from './citation-coverage.ts'
import { citationExists } from './citation-exists.ts'
import { contains } from './contains.ts'
import { containsAny } from './contains-any.ts'
import { containsJson } from './contains-json.ts'
import { cost } from './cost.ts'
import { csvColumns } from './csv-columns.ts'
import { diff } from './diff.ts'
import { endsWith } from './ends-with.ts'
import { equals } from './equals.ts'
import { expr } from './expr.ts'
import { finishReason } from './finish-reason.ts'
import { freshness } from './freshness.ts'
import type { Gate } from './gate.ts'
import { http } from './http.ts'
import { isRefusal } from './is-refusal.ts'
import { jsonPath } from './json-path.ts'
import { jsonSchema } from './json-schema.ts'
import { keysPresent } from './keys-present.ts'
import { language } from './language.ts'
import { latency } from './latency.ts'
import { levenshtein } from './levenshtein.ts'
import { llmReview } from './llm-review.ts'
import { markdownSections } from './markdown-sections.ts'
import { matches } from './matches.ts'
import { maxLength } from './max-length.ts'
import { maxValue } from './max-value.ts'
import { minLength } from './min-length.ts'
import { noPii } from './no-pii.ts'
import { noSecrets } from './no-secrets.ts'
import { notEmpty } from './not-empty.ts'
import { numbersInEvidence } from './numbers-in-evidence.ts'
import { oneOf } from './one-of.ts'
import { portMatches } from './port-matches.ts'
import { portMinLength } from './port-min-length.ts'
import { portNotEmpty } from './port-not-empty.ts'
import { portType } from './port-type.ts'
import { promptInjectionHeuristics } from './prompt-injection-heuristics.ts'
import { quoteVerbatim } from './quote-verbatim.ts'
import { range } from './range.ts'
import { rougeN } from './rouge-n.ts'
import { semanticReview } from './semantic-review.ts'
import { shell } from './shell.ts'
import { startsWith } from './starts-with.ts'
import { tokens } from './tokens.ts'
import { typeIs } from './type-is.ts'
import { urlAllowList } from './url-allow-list.ts'
import { validJson } from './valid-json.ts'
import { validUrl } from './valid-url.ts'
import { validXml } from './valid-xml.ts'
import { validYaml } from './valid-yaml.ts'
import { webhook } from './webhook.ts'
import { wordCount } from './word-count.ts'

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

/** The gate of that type name; undefined = there is none. */
export function gateOf(type: string): Gate<unknown> | undefined {
  return BY_TYPE.get(type)
}

/** Every type name a check may have. */
export function gateTypes(): readonly string[] {
  return [...BY_TYPE.keys()]
}

/** The families of the reference with the types of each. */
export function gateFamilies(): readonly { readonly family: string; readonly types: readonly string[] }[] {
  return Object.entries(FAMILIES).map(([family, gates]) => ({ family, types: gates.map(({ type }) => type) }))
}
