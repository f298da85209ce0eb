import { openBedrock } from '../../../functions/aws/bedrock.ts'
import { openAnthropic } from '../../../functions/providers/ai-sdk/anthropic.ts'
import { openGoogle } from '../../../functions/providers/ai-sdk/google.ts'
import { openOpenai } from '../../../functions/providers/ai-sdk/openai.ts'
import { openOpenaiCompatible } from '../../../functions/providers/ai-sdk/openai-compatible.ts'
import { openOpenclaw } from '../../../functions/providers/ai-sdk/openclaw.ts'
import { openProjectPackage } from '../../../functions/providers/ai-sdk/project-package.ts'
import type { Adapters } from '../../../functions/providers/registry.ts'

/** Every adapter that a place would load when its settings name its type. */
export const ALL_ADAPTERS: Required<Adapters> = {
  bedrock: openBedrock,
  'openai-compatible': openOpenaiCompatible,
  openclaw: openOpenclaw,
  openai: openOpenai,
  anthropic: openAnthropic,
  google: openGoogle,
  'ai-sdk': openProjectPackage,
}
