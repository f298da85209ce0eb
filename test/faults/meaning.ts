import { Fault } from '../../shared/errors.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import type { Sim } from './sim.ts'

/** Vectors of a text's letters: near in letters is near in meaning. Takes its time, and is away now and then. */
export function createMeaning({ scheduler, random }: Pick<Sim, 'scheduler' | 'random'>): Provider {
  return {
    dispatch: async () => {
      throw new Fault('InvalidInput', 'provider_invalid', 'Cannot write: this provider has embeddings only.')
    },
    async embed({ texts, signal }) {
      await scheduler.delay(200 + random() ** 8 * 20_000, signal)
      if (random() < 0.1) throw new Fault('Unavailable', 'provider_unavailable', 'Cannot embed: the provider is away.')
      return { vectors: texts.map(vectorOf), tokens_in: texts.join('').length }
    },
  }
}

const LETTERS = 'aeinorst'

function vectorOf(text: string): readonly number[] {
  const words = text.toLowerCase()
  return [...LETTERS].map((letter) => 0.01 + words.split(letter).length / (1 + words.length))
}
