import { assessmentOutputKind } from './assessment-output.ts'
import { classifierOutputKind } from './classifier-output.ts'
import { executionOutputKind } from './execution-output.ts'
import { intentKind } from './intent.ts'
import type { PayloadRegistry, PayloadType } from './payload-registry.ts'
import { routeDecisionKind } from './route-decision.ts'
import { searchResultKind } from './search-result.ts'

const DOMAIN = 'research'
const VERSION = 'v1'

type Category = 'intent' | 'classifier_output' | 'route_decision' | 'result' | 'execution_output' | 'assessment_output'

/** The type of a payload of the chain, as its envelope has it. */
export function researchType(category: Category): PayloadType {
  return { domain: DOMAIN, category, version: VERSION }
}

/** The only place that adds types: who starts from it decodes all of them. */
export function registerPayloads(registry: PayloadRegistry): void {
  registry.add(researchType('intent'), intentKind)
  registry.add(researchType('classifier_output'), classifierOutputKind)
  registry.add(researchType('route_decision'), routeDecisionKind)
  registry.add(researchType('result'), searchResultKind)
  registry.add(researchType('execution_output'), executionOutputKind)
  registry.add(researchType('assessment_output'), assessmentOutputKind)
}
