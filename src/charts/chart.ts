/** What to draw: data only. The picture is the same, byte for byte, wherever and however often it is drawn. */
export interface Chart {
  /** The claim the picture makes, up to about 40 characters. */
  readonly title: string;
  /** A second line: of what, when. */
  readonly subtitle?: string;
  /** One a point on the horizontal axis; as many are shown as fit. */
  readonly labels: readonly string[];
  /** One to three, above each other with the same horizontal axis, since what differs in size shares no scale. */
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly kind: 'line' | 'bars' | 'stacked';
  /** What the vertical axis counts. */
  readonly name: string;
  /** One to six, told apart by colour and by form. */
  readonly series: readonly Series[];
}

interface Series {
  readonly name: string;
  /** One a label; null where nothing was reported: a gap. */
  readonly values: readonly (number | null)[];
}
