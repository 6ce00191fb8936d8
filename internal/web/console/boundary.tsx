import { Component, type ReactNode } from 'react';

interface Props { content: string; instead: ReactNode; children: ReactNode }
interface State { content: string; failed: boolean }

/** A boundary shows something else instead of children that React cannot show. With another content, React tries them again. */
export class Boundary extends Component<Props, State> {
  override state: State = { content: this.props.content, failed: false };
  static getDerivedStateFromError = () => ({ failed: true });
  static getDerivedStateFromProps = ({ content }: Props, state: State): State | null => (content === state.content ? null : { content, failed: false });
  override render = () => (this.state.failed ? this.props.instead : this.props.children);
}
