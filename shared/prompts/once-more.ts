import { fenced } from './fenced.ts'

/** The same prompt, asked once more with what was wrong with the first answer. */
export function onceMore(prompt: string, errors: readonly string[]): string {
  return [
    prompt,
    '',
    'The previous answer was refused:',
    fenced(errors.join('\n')),
    'Answer again, in the form asked for.',
  ].join('\n')
}
