import type { AssessmentOutput } from './assessment-output.ts'

/** What stands for an assessment nobody could make: not sufficient, and the topic is searched again. */
export function assessByDefault(topic: string, evidence_count: number, degraded_reason: string): AssessmentOutput {
  return { topic, sufficient: false, refined_queries: [topic], evidence_count, degraded: true, degraded_reason }
}
