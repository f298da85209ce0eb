import type { Told } from './answer-set.ts'

/** Written when the rules stood, and measured before any of them was changed. */
export const HELD_OUT: readonly Told[] = [
  {
    label: 'Selby Canal',
    text: 'The Selby Canal is 31 kilometres long and has 22 locks. Barges need roughly nine hours for the trip. Swimming is forbidden near the locks. Engineers warned that the east bank is unstable. The canal company has never gone bankrupt.',
    right: [
      'The Selby Canal is 31 km long',
      'Barges need roughly nine hours for the trip',
      'Swimming is forbidden near the locks',
      'Engineers warned that the east bank is unstable',
      'The canal company has never gone bankrupt',
    ],
    wrong: [
      ['attribution dropped', 'The east bank is unstable'],
      ['hedge dropped', 'Barges need nine hours for the trip'],
      ['negation dropped', 'The canal company has gone bankrupt'],
      ['antonym', 'Swimming is allowed near the locks'],
      ['two facts mixed', 'The Selby Canal is 22 kilometres long'],
    ],
  },
  {
    label: 'Ravel 2',
    text: 'Ravel 2 is a language model with 7 billion parameters. It was trained on 1.2 trillion tokens. The weights are not open. Its makers hope to halve the cost of a query next year. On the Brown test it scored 61 percent, behind Lark.',
    right: [
      'Ravel 2 is a language model with 7 billion parameters',
      'It was trained on 1.2 trillion tokens',
      'The weights are not open',
      'On the Brown test it scored 61 percent',
      'On the Brown test it scored 61%, behind Lark',
    ],
    wrong: [
      ['other scale', 'Ravel 2 is a language model with 7 million parameters'],
      ['negation dropped', 'The weights are open'],
      ['plan told as done', 'Its makers halve the cost of a query next year'],
      ['roles turned round', 'On the Brown test Lark scored 61 percent'],
      ['other unit', 'On the Brown test it scored 61 points'],
    ],
  },
  {
    label: 'Meridian Treaty',
    text: 'The Meridian Treaty was signed by eleven states in 1956. Two of them left it later. It forbids tests above ground but not below ground. Unless a member objects, it is renewed every ten years. Peru has yet to ratify it.',
    right: [
      'The Meridian Treaty was signed by 11 states',
      'Two of them left it later',
      'It forbids tests above ground but not below ground',
      'Unless a member objects, it is renewed every ten years',
      'Peru has yet to ratify it',
    ],
    wrong: [
      ['condition dropped', 'It is renewed every ten years'],
      ['negation dropped', 'It forbids tests below ground'],
      ['hedge dropped', 'Peru has to ratify it'],
      ['other number', 'The Meridian Treaty was signed by twelve states in 1956'],
      ['other quantifier', 'None of them left it later'],
    ],
  },
  {
    label: 'Ines Rauch',
    text: 'Ines Rauch succeeded Paul Adler as minister in 2014. She opposed the dam, although her party supported it. Rauch studied law in Bern. No charges were brought against her. She is married to the painter Leo Sand.',
    right: [
      'Ines Rauch succeeded Paul Adler as minister in 2014',
      'Rauch studied law in Bern',
      'No charges were brought against her',
      'She is married to the painter Leo Sand',
      'She opposed the dam, although her party supported it',
    ],
    wrong: [
      ['roles turned round', 'Paul Adler succeeded Ines Rauch as minister in 2014'],
      ['antonym', 'She supported the dam'],
      ['negation dropped', 'Charges were brought against her'],
      ['other name', 'Rauch studied law in Basel'],
      ['other relation', 'She is the daughter of the painter Leo Sand'],
    ],
  },
  {
    label: 'Quill Beetle',
    text: 'The quill beetle eats only dead wood. Females lay between 40 and 60 eggs. Adults rarely live longer than five weeks. The beetle was thought to be extinct until 2009. Birds avoid it because it smells.',
    right: [
      'The quill beetle eats only dead wood',
      'Females lay between 40 and 60 eggs',
      'Adults rarely live longer than five weeks',
      'The beetle was thought to be extinct until 2009',
      'Birds avoid it because it smells',
    ],
    wrong: [
      ['condition dropped', 'The quill beetle eats dead wood'],
      ['attribution dropped', 'The beetle was extinct until 2009'],
      ['hedge dropped', 'Adults live longer than five weeks'],
      ['other unit', 'Adults rarely live longer than five months'],
      ['other number', 'Females lay between 40 and 80 eggs'],
    ],
  },
  {
    label: 'Sundial Fund',
    text: 'The Sundial Fund returned 4.5 percent in 2022 and lost 1.8 percent in 2023. It holds no tobacco shares. Fees are lower than those of the Astra Fund. Investors cannot withdraw before March. The manager is said to have resigned.',
    right: [
      'The Sundial Fund returned 4.5 percent in 2022',
      'It holds no tobacco shares',
      'Fees are lower than those of the Astra Fund',
      'Investors cannot withdraw before March',
      'The manager is said to have resigned',
    ],
    wrong: [
      ['two facts mixed', 'The Sundial Fund returned 1.8 percent in 2023'],
      ['negation dropped', 'Investors can withdraw before March'],
      ['attribution dropped', 'The manager has resigned'],
      ['bound turned round', 'Fees are higher than those of the Astra Fund'],
      ['quotation cut', '“tobacco shares”'],
    ],
  },
]
